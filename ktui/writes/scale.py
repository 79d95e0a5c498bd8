"""The scale subresource: replicas of a workload as an autoscaling/v1 Scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ktui.apiserver.answer import send_other, send_tree
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import invalid, invalid_object
from ktui.kube.golang.formatting import go_value
from ktui.kube.json_trees import Obj
from ktui.kube.listoptions import parse_get_options
from ktui.kube.names import subdomain_faults
from ktui.kube.resources import Resource, TableColumn
from ktui.kube.scale import (
    BUILTIN_PATHS,
    ScalePaths,
    owns_replicas,
    paths_of,
    rescaled,
    scale_of,
)
from ktui.kube.status import StatusError, bad_request, bare_error, conflict, not_found
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.before_update import check_identity, check_uid
from ktui.writes.decoding.body import (
    APPLY,
    IGNORE,
    SentBody,
    Unfit,
    described,
    kind_fault,
    refused_patch,
    unconverted,
    unknown_texts,
)
from ktui.writes.decoding.typed_objects import warn
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.entries import distinct, entry_order, identity, store_entries, track_update
from ktui.writes.managedfields.fieldset import difference
from ktui.writes.objectmeta import metadata_errors, metadata_of, sent_version, timestamp
from ktui.writes.options import WriteOptions, write_options
from ktui.writes.patch import check_declared, configuration
from ktui.writes.patches.converter import conversion_fault, converted
from ktui.writes.patches.patch_documents import (
    JSON_PATCH,
    STRATEGIC,
    of_json_patch,
    of_merge_patch,
    patch_document,
    patch_type,
    patched,
    patched_text,
)
from ktui.writes.patches.strategic import consumed
from ktui.writes.update import Change, context_of
from ktui.writes.validation.custom_resources import custom_errors

API_VERSION, KIND = "autoscaling/v1", "Scale"

# What upstream says of any Scale of a custom resource that it cannot decode.
_UNREGISTERED = (
    'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/'
    'customresource_handler.go:781"'
)
# And of one that is applied, unless nothing changes.
_UNCONVERTIBLE = f"to proper version: request to convert CR to an invalid group/version: {API_VERSION}"
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
SCALES = Resource("autoscaling", "v1", "scales", KIND, "scale", namespaced=True)
"""A Scale as an object of its own, with its type."""


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
    options = write_options(call.request, "UpdateOptions")
    try:
        sent = await compute(request_body.sent_document, server, call, body, SCALES, options)
    except StatusError as error:
        if error.code == 400 and resource.custom:
            raise bad_request(_UNREGISTERED) from None
        raise
    await _change(server, call, resource, form, options, lambda _: sent)


async def patch(server: Server, call: Call, resource: Resource) -> None:
    kind = patch_type(call, resource)
    form, body = await request_body.begin(server, call, resource)
    if kind == APPLY:
        await _apply(server, call, resource, form, body)
        return
    options = write_options(call.request, "PatchOptions")
    document = await compute(patch_document, kind, body, strict=options.validation != IGNORE)
    faults: Sequence[str] = () if kind == JSON_PATCH else body.duplicates
    warnings: list[str] = []

    def change(scale: Obj) -> Obj:
        new, unknown = _typed(server, kind, document, patched(kind, scale, document, API_VERSION, KIND))
        warnings[:] = options.warnings([*faults, *unknown], partial(_refused, kind, document, new))
        return new

    try:
        await _change(server, call, resource, form, options, change, warnings)
    except StatusError:
        warn(call, warnings)
        raise


async def _apply(server: Server, call: Call, resource: Resource, form: Form, body: SentBody) -> None:
    options = write_options(call.request, "PatchOptions", applies=True)
    config = configuration(body, SCALES)
    await compute(check_declared, server, config, SCALES)
    apply = Apply(config, options.field_manager, SCALES, "scale", call.request.flag("force"))

    def change(scale: Obj) -> Obj:
        if resource.custom and not metadata_of(scale).get("managedFields"):
            failed = f"failed to convert live object (/; {API_VERSION}, Kind={KIND})"
            raise bare_error(f"failed to create manager for existing fields: {failed} {_UNCONVERTIBLE}")
        new = apply.merged(scale)
        if resource.custom and new != scale:
            failed = f"failed to convert new object ({described(config, SCALES)})"
            raise bare_error(f"{failed} {_UNCONVERTIBLE}")
        if fault := conversion_fault(new, SCALES):
            raise unconverted(config, SCALES, Unfit(fault))
        return converted(new, SCALES)

    await _change(server, call, resource, form, options, change, apply=apply)


def _typed(server: Server, kind: str, document: Any, new: Obj) -> tuple[Obj, list[str]]:
    """Return a patched Scale and its unknown fields; raise StatusError 422 for values of another type."""
    if kind == STRATEGIC:
        if fault := conversion_fault(new, SCALES):
            raise _refused(kind, document, new, fault)
        new = converted(new, SCALES)
        return new, sorted(_unknown(server, new))
    if fault := kind_fault(new, SCALES, server.services.codec.knows):
        raise _refused(kind, document, new, fault)
    if fault := server.services.codec.go_mismatch(new, API_VERSION, KIND):
        raise _refused(kind, document, new, fault)
    return new, _unknown(server, new)


def _unknown(server: Server, scale: Obj) -> list[str]:
    return unknown_texts(server.services.codec.unknown_fields(scale, API_VERSION, KIND, None))


def _refused(kind: str, document: Any, new: Obj, reason: str) -> StatusError:
    if kind == STRATEGIC:
        return refused_patch(go_value(consumed(document)), reason)
    touched = of_json_patch(document) if kind == JSON_PATCH else of_merge_patch(document)
    return refused_patch(patched_text(new, touched), reason)


async def _change(
    server: Server,
    call: Call,
    resource: Resource,
    form: Form,
    options: WriteOptions,
    change: Change,
    warnings: Sequence[str] = (),
    apply: Apply | None = None,
) -> None:
    """Change the Scale of an object, and the object by it; `warnings` are those of `change`."""
    paths, name, whole = _paths(resource), call.info.name, call.request.method == "PUT"

    def rescale(old: Obj) -> Obj:
        before = to_scale(old, scale_of(old, paths), paths)
        scale = change(before)
        context = context_of(server, call, resource, options)
        check_identity(scale, context)
        if whole:
            check_uid(scale, old, context)
        replicas = (scale.get("spec") or {}).get("replicas") or 0
        if not resource.custom:
            check_scale(scale, name, replicas)
        if not whole and not resource.custom:
            _check_uid(scale, old, resource)
        _check_version(scale, old, resource)
        new = rescaled(old, replicas, paths)
        if resource.custom and (errors := custom_errors(new, resource)):
            raise invalid_object(resource.kind, resource.group, name, errors)
        changes = new != old
        if changes:
            metadata = metadata_of(new)
            metadata["generation"] = int(metadata.get("generation", 0)) + 1
        if apply is not None:
            apply.track(before, scale, timestamp())
        else:  # without an owner of the number it is not tracked
            scale = {**before, "spec": {"replicas": replicas} if replicas else {}}
            scale["metadata"] = dict(metadata_of(before))
            who, now = options.field_manager, timestamp()
            track_update(before, scale, manager=who, time=now, resource=SCALES, subresource="scale")
        to_parent(new, scale, paths, resource.api_version)
        return new

    call.writes()
    if options.dry_run:
        stored = await stored_objects.current(server, resource, call.info.namespace, name)
        changed = rescale(await stored_objects.tree(server, stored, resource))
    else:
        store = server.cacher(resource).store
        stored = await store.update(call.info.namespace or None, name, rescale)
        changed = await stored_objects.tree(server, stored, resource)
    warn(call, list(warnings))
    await send_other(server, call, scale_of(changed, paths), form)


def check_scale(scale: Obj, name: str, replicas: int) -> None:
    """Raise StatusError 422 for wrong metadata, and for fewer replicas than none (ValidateScale)."""
    errors = metadata_errors(scale, subdomain_faults)
    if replicas < 0:
        errors.append(invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
    if errors:
        raise invalid_object(KIND, SCALES.group, name, errors)


def _paths(resource: Resource) -> ScalePaths:
    return paths_of(resource.scale) if resource.custom else BUILTIN_PATHS


def _check_uid(scale: Obj, old: Obj, resource: Resource) -> None:
    """Raise StatusError 409 for a patched Scale with another uid than the object's."""
    uid, found = metadata_of(scale).get("uid"), metadata_of(old).get("uid")
    if uid and uid != found:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        scaled = replace(resource, resource=f"{resource.resource}/scale")
        raise conflict(scaled, str(metadata_of(old)["name"]), why)


def _check_version(scale: Obj, old: Obj, resource: Resource) -> None:
    """Raise StatusError 500 for a resourceVersion that is no number, 409 for one that is not the object's."""
    version = sent_version(scale)
    if version not in ("", "0", metadata_of(old).get("resourceVersion")):
        raise conflict(resource, str(metadata_of(old)["name"]))


_SCALED: Obj = {"apiVersion": API_VERSION, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
# Members in the order of the type, as errors show them.
_ENTRY = dict.fromkeys((
    "manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource",
))  # fmt: skip


def to_scale(obj: Obj, scale: Obj, paths: ScalePaths) -> Obj:
    """Return a Scale with an entry for each one of the object that has the replicas."""
    entries = distinct(metadata_of(obj).get("managedFields") or ())
    own = [
        {name: value for name, value in (_ENTRY | entry | _SCALED).items() if value is not None}
        for entry in entries
        if owns_replicas(entry, paths)
    ]
    return {**scale, "metadata": {**scale["metadata"], "managedFields": own}} if own else scale


def to_parent(obj: Obj, scale: Obj, paths: ScalePaths, api_version: str) -> None:
    """Set the object's entries by those of its changed Scale: who owns the replicas now, and who did.

    As upstream, an update's entry is another one in the version of a Scale, and new ones have no time.
    """
    entries = metadata_of(scale).get("managedFields") or ()
    wanted = {identity(entry): entry for entry in entries if owns_replicas(entry)}
    replicas, kept = _fields(paths), []
    for entry in distinct(metadata_of(obj).get("managedFields") or ()):
        if owns_replicas(entry, paths) and wanted.pop(identity(entry), None) is None:
            entry = {**entry, "fieldsV1": difference(entry["fieldsV1"], replicas)}
        if entry.get("fieldsV1"):
            kept.append(entry)
    for entry in wanted.values():
        kept.append({**entry, "apiVersion": api_version, "fieldsV1": replicas})
        kept[-1].pop("time", None)
    store_entries(obj, sorted(kept, key=entry_order))


def _fields(paths: ScalePaths) -> Obj:
    fields: Obj = {}
    for name in reversed(paths.replicas.removeprefix(".").split(".")):
        fields = {f"f:{name}": fields}
    return fields
