"""PATCH with application/apply-patch+yaml: server-side apply."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import invalid_object, required
from ktui.kube.json_trees import copied
from ktui.kube.resources import Resource
from ktui.kube.status import bad_request, bare_error
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body
from ktui.writes.before_update import check_identity
from ktui.writes.create import Creation, create
from ktui.writes.decoding.body import SentBody, json_type
from ktui.writes.decoding.field_validation import Unfit
from ktui.writes.decoding.typed import undeclared
from ktui.writes.guaranteed_update import apply_change, context_of, update_or_create
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.duplicate_keys import list_faults
from ktui.writes.managedfields.nodes import root_of
from ktui.writes.metadata.objectmeta import metadata_of
from ktui.writes.options import write_options

Obj = dict[str, Any]
# Values that the schema does not allow. What it allows and the kind does not (numbers that do not fit,
# malformed quantities and times, base64) is refused when the merged object is decoded.
_OTHER_TYPE = re.compile(
    "expected (an array|an object|a string|a base64 string|true or false|a quantity), got "
    "|expected a number that fits u?int[0-9]+, got (?!the number)"
)


async def handle(server: Server, call: Call, resource: Resource, form: Form, body: SentBody) -> None:
    """Merge the configuration into the object, or create it from the configuration."""
    if not call.request.parameter("fieldManager"):
        error = required("fieldManager", "is required for apply patch")
        raise invalid_object("PatchOptions", "meta.k8s.io", "", [error])
    options = write_options(call.request, "PatchOptions", applies=True)
    config = _configuration(body, resource)
    await compute(request_body.check_sent_metadata, server, config, resource)
    if (config.get("metadata") or {}).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    apply = Apply(config, options.field_manager, resource, call.info.subresource, call.request.flag("force"))
    context = context_of(server, call, resource, options, apply=apply)

    def change(old: Obj) -> Obj:
        _check_declared(server, config, resource)
        new = apply.merged(old)
        check_identity(new, context)  # the name may come from the object itself
        return new

    async def create_it() -> None:
        await compute(_check_declared, server, config, resource)
        new = await compute(copied, config)
        check_identity(new, context)
        metadata_of(new).pop("resourceVersion", None)
        await create(server, call, Creation(resource, new, options, apply=apply), form)

    def update() -> Awaitable[None]:
        return apply_change(server, call, context, change, form, options)

    await (update() if call.info.subresource else update_or_create(update, create_it))


def _configuration(body: SentBody, resource: Resource) -> Obj:
    """The parsed body, YAML or JSON; StatusError 400."""
    try:
        document = body.document()
        if body.duplicates:
            raise ValueError(body.duplicates[0])
    except ValueError as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if document is not None and not isinstance(document, dict):
        raise bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{json_type(document)} into Go value of type map[string]interface {{}}"
        )
    document = document or {}
    named = tuple(str(document.get(name) or "") for name in ("apiVersion", "kind"))
    if named != (resource.api_version, resource.kind):
        group, _, version = named[0].rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={named[1]}")
    config: Obj = document
    return config


def _check_declared(server: Server, config: Obj, resource: Resource) -> None:
    """StatusError 500, as upstream, for undeclared fields, values of another type and items without keys."""
    try:
        paths = undeclared(server, config, resource)
    except Unfit as fault:
        if not _OTHER_TYPE.search(fault.reason):
            return  # reported later, with another message
        faults = [f".{fault.reason}"]
    else:
        faults = [f".{path}: field not declared in schema" for path in paths]
        faults += list_faults(config, root_of(resource))
    if not faults:
        return
    metadata = config.get("metadata") or {}
    named = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    text = faults[0] if len(faults) == 1 else "\n  ".join(["errors:", *faults])
    raise bare_error(f"failed to create typed patch object ({named}; {kind}): {text}")
