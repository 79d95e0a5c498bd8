"""POST: create."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.objects.admission import admit_pod
from ktui.apiserver.objects.body import decode_object
from ktui.apiserver.objects.defaults import set_defaults
from ktui.apiserver.objects.managed.entries import track_update
from ktui.apiserver.objects.metadata import fill_new, metadata_of, timestamp, validate_metadata
from ktui.apiserver.objects.options import write_options
from ktui.apiserver.objects.schema import apply_defaults, prune_object
from ktui.apiserver.objects.validation import validate_object
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError, forbidden, not_found

# Kinds whose owner reports the status with the object itself.
KEEPS_STATUS = frozenset({"Node", "Event", "Namespace"})


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await writing.begin(server, call, resource)
    options = write_options(call.request, "CreateOptions")
    obj = decode_object(body, call.request.headers.get("content-type", ""), resource)
    await _check_namespace(server, resource, call.info.namespace)
    obj = await prepare(server, obj, resource, call.info.namespace, options.field_manager)
    if options.dry_run:
        call.writes()
        await writing.answer_tree(call, obj, form, 201)
        return
    call.writes()
    stored = await server.cacher(resource).store.create(obj)
    await writing.send_object(server, call, resource, stored, form, 201)


async def prepare(
    server: Server, obj: dict[str, Any], resource: Resource, namespace: str, manager: str
) -> dict[str, Any]:
    """The object as it is to be stored: defaults, managed fields, admission, in upstream's order."""
    fill_new(obj, resource, namespace)
    if "status" in resource.subresources and obj.get("kind") not in KEEPS_STATUS:
        obj.pop("status", None)
    if resource.custom:
        schema = server.catalog.schema_of(resource)
        prune_object(obj, schema)
        apply_defaults(obj, schema)
    else:
        set_defaults(obj)
    validate_metadata(obj, resource)
    obj = writing.as_stored(server, obj, resource)
    metadata_of(obj).pop("managedFields", None)
    track_update(
        None,
        obj,
        manager=manager,
        time=timestamp(),
        api_version=resource.api_version,
        custom=resource.custom,
    )
    if resource.id == "pods":
        node = (obj.get("spec") or {}).get("nodeName")
        admit_pod(obj, await find_node(server, node) if node else None)
    validate_object(obj, resource)
    return obj


async def find_node(server: Server, name: str) -> dict[str, Any] | None:
    """The node that a pod is bound to, if there is one."""
    nodes = BUILTIN.find("", "v1", "nodes")
    assert nodes is not None
    return await writing.find(server, nodes, "", name)


async def _check_namespace(server: Server, resource: Resource, namespace: str) -> None:
    """Admission NamespaceLifecycle: nothing is created in a namespace that is not there or is ending."""
    if not namespace:
        return
    namespaces = BUILTIN.find("", "v1", "namespaces")
    assert namespaces is not None
    found = await writing.find(server, namespaces, "", namespace)
    if found is None:
        # The cache may be behind: a namespace created a moment ago counts.
        answer = await server.cacher(namespaces).get(None, namespace, "")
        if answer.object is None:
            raise not_found(namespaces, namespace)
        found = writing.tree(server, answer.object, namespaces)
    if (found.get("metadata") or {}).get("deletionTimestamp"):
        raise _terminating(resource, namespace)


def _terminating(resource: Resource, namespace: str) -> StatusError:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    return forbidden(resource, "", why)
