"""The scale subresource: replicas of a workload as an autoscaling/v1 Scale."""

from __future__ import annotations

from ktui.apiserver.answer import send_other, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import invalid_object
from ktui.kube.json_trees import Obj
from ktui.kube.listoptions import parse_get_options
from ktui.kube.resources import Resource, TableColumn
from ktui.kube.scale import (
    BUILTIN_PATHS,
    ScalePaths,
    owns_replicas,
    paths_of,
    replicas_of,
    rescaled,
    scale_of,
)
from ktui.kube.status import bad_request, conflict, not_found
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.decoding.body import refused_patch
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import WriteOptions, write_options
from ktui.writes.patches.patch_documents import patch_document, patch_type, patched, patched_text
from ktui.writes.update import Change
from ktui.writes.validation.custom_resources import custom_errors

API_VERSION, KIND = "autoscaling/v1", "Scale"

_COLUMNS = (
    TableColumn("Desired", source=".spec.replicas", type="integer"),
    TableColumn("Available", source=".status.replicas", type="integer"),
    TableColumn("Age", source=".metadata.creationTimestamp", type="date"),
)
# `custom`: its cells are paths of the document.
PRINTED = Resource(
    "autoscaling", "v1", "scales", KIND, "scale", namespaced=True, custom=True, columns=_COLUMNS
)
"""The Table of a Scale, as `kubectl get --subresource=scale` prints it."""


async def get(server: Server, call: Call, resource: Resource) -> None:
    form = negotiate(
        call.request.accept, custom=resource.custom, pretty=call.request.wants_pretty, drops=call.drops
    )
    options = parse_get_options(call.request.query)
    answer = await server.cacher(resource).get(
        call.info.namespace or None, call.info.name, options.resource_version
    )
    if answer.object is None:
        raise not_found(resource, call.info.name)
    scale = scale_of(await stored_objects.tree(server, answer.object, resource), _paths(resource))
    if form.target == "Table":
        await send_tree(server, call, PRINTED, scale, form)
    else:
        await send_other(server, call, scale, form)


async def update(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    sent = await compute(request_body.sent_document, server, body, API_VERSION, KIND)
    options = write_options(call.request, "UpdateOptions")
    await _change(server, call, resource, form, options, lambda _: sent)


async def patch(server: Server, call: Call, resource: Resource) -> None:
    kind = patch_type(call, resource)
    form, body = await request_body.begin(server, call, resource)
    options, document = write_options(call.request, "PatchOptions"), await compute(patch_document, kind, body)

    def change(scale: Obj) -> Obj:
        new = patched(kind, scale, document, API_VERSION, KIND)
        if fault := server.services.codec.go_mismatch(new, API_VERSION, KIND):
            raise refused_patch(patched_text(new, None), fault)
        return new

    await _change(server, call, resource, form, options, change)


async def _change(
    server: Server, call: Call, resource: Resource, form: Form, options: WriteOptions, change: Change
) -> None:
    paths, name = _paths(resource), call.info.name

    def rescale(old: Obj) -> Obj:
        scale = change(scale_of(old, paths))
        _check_identity(scale, old, resource, name)
        replicas = replicas_of(scale, name, paths)
        new = rescaled(old, replicas, paths)
        if resource.custom and (errors := custom_errors(new, resource)):
            raise invalid_object(resource.kind, resource.group, name, errors)
        if new != old:
            metadata = metadata_of(new)
            metadata["generation"] = int(metadata.get("generation", 0)) + 1
            # A Scale has the entries of the number's owners: without any it is not tracked. It has no 0.
            if any(owns_replicas(entry, paths) for entry in metadata.get("managedFields") or ()):
                seen = {**rescaled(old, replicas or None, paths), "metadata": metadata}
                who, part = options.field_manager, "scale"
                track_update(old, seen, manager=who, time="", resource=resource, subresource=part)
        return new

    call.writes()
    if options.dry_run:
        stored = await stored_objects.current(server, resource, call.info.namespace, name)
        changed = rescale(await stored_objects.tree(server, stored, resource))
    else:
        store = server.cacher(resource).store
        stored = await store.update(call.info.namespace or None, name, rescale)
        changed = await stored_objects.tree(server, stored, resource)
    await send_other(server, call, scale_of(changed, paths), form)


def _paths(resource: Resource) -> ScalePaths:
    return paths_of(resource.scale) if resource.custom else BUILTIN_PATHS


def _check_identity(scale: Obj, old: Obj, resource: Resource, name: str) -> None:
    """Raise StatusError 400 or 409 unless the Scale is for this object and its current state."""
    metadata = scale.get("metadata") or {}
    found = metadata.get("name") or name
    if found != name:
        raise bad_request(f"the name of the object ({found}) does not match the name on the URL ({name})")
    version = metadata.get("resourceVersion") or ""
    if version not in ("", "0", metadata_of(old).get("resourceVersion")):
        raise conflict(resource, name)
