"""POST: create."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.objects.admission import admit_pod
from ktui.apiserver.objects.body import duplicate_fields
from ktui.apiserver.objects.fitting import (
    STRICT,
    WARN,
    Unfit,
    check_metadata,
    duplicate_texts,
    refused,
    strict_error,
)
from ktui.apiserver.objects.managed.apply import Apply
from ktui.apiserver.objects.managed.entries import track_update
from ktui.apiserver.objects.metadata import fill_new, metadata_of, timestamp, validate_metadata
from ktui.apiserver.objects.options import WriteOptions, write_options
from ktui.apiserver.objects.trees import copied
from ktui.apiserver.objects.validation import validate_object
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.apiserver.verbs.shaping import shaped, warn
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError, forbidden, not_found

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# Kinds whose owner reports the status with the object itself.
KEEPS_STATUS = frozenset({"Node", "Event", "Namespace"})


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await writing.begin(server, call, resource)
    options = write_options(call.request, "CreateOptions")
    obj = writing.sent_object(server, call, resource, body)
    await _check_namespace(server, resource, call.info.namespace)
    duplicates = duplicate_texts(duplicate_fields(body))
    obj = await prepare(server, call, obj, resource, options, duplicates)
    call.writes()
    if options.dry_run:
        await writing.answer_tree(call, obj, form, 201)
        return
    stored = await store_new(server, obj, resource)
    await send_object(server, call, resource, stored, form, 201)


async def store_new(server: Server, obj: dict[str, Any], resource: Resource) -> StoredObject:
    """Put it into etcd; an Event goes by itself after its time to live."""
    return await server.cacher(resource).store.create(obj, ttl_of(server, resource))


def ttl_of(server: Server, resource: Resource) -> int:
    """Seconds that an object lives, 0 for ever."""
    return server.services.event_ttl if resource.prefix == "events/" else 0


async def prepare(
    server: Server,
    call: Call,
    obj: dict[str, Any],
    resource: Resource,
    options: WriteOptions,
    faults: Sequence[str] = (),
    apply: Apply | None = None,
) -> dict[str, Any]:
    """The object as it is to be stored: defaults, managed fields, admission, in upstream's order.

    `faults` are those of the body that are told beside unknown fields; with `apply` the
    object is made by a server-side apply.
    """
    sent = copied(obj)
    try:
        check_metadata(obj)
        fill_new(obj, resource, call.info.namespace)
        if "status" in resource.subresources and obj.get("kind") not in KEEPS_STATUS:
            obj.pop("status", None)
        obj, unknown = shaped(server, obj, resource)
    except Unfit as unfit:
        reason = server.services.codec.go_mismatch(sent, resource) or unfit.reason
        raise refused(resource, reason) from None
    unknown = [*faults, *unknown]
    if unknown and options.validation == STRICT:
        raise refused(resource, strict_error(unknown))
    if options.validation == WARN:
        warn(call, unknown)
    validate_metadata(obj, resource)
    metadata_of(obj).pop("managedFields", None)
    if apply is not None:
        apply.track(None, obj, timestamp())
    else:
        track_update(
            None,
            obj,
            manager=options.field_manager,
            time=timestamp(),
            api_version=resource.api_version,
            custom=resource.custom,
        )
    if resource.id == "pods":
        node = (obj.get("spec") or {}).get("nodeName")
        admit_pod(obj, await find_node(server, node) if node else None, call.behaviour.minor)
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
