"""PATCH: merge patch, JSON patch, strategic merge patch; server-side apply is in apply.py."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.telemetry.off_loop import compute
from ktui.writes import apply, request_body, stored_objects
from ktui.writes.decoding.body import APPLY
from ktui.writes.decoding.field_validation import IGNORE
from ktui.writes.guaranteed_update import Change, apply_change, context_of
from ktui.writes.options import write_options
from ktui.writes.patches.documents import JSON_PATCH, patch_document, patch_type, patched
from ktui.writes.patches.patched_json import of_json_patch, of_merge_patch


async def handle(server: Server, call: Call, resource: Resource) -> None:
    kind = patch_type(call, resource)
    form, body = await request_body.begin(server, call, resource)
    if kind == APPLY:
        await apply.handle(server, call, resource, form, body)
        return
    options = write_options(call.request, "PatchOptions")
    try:
        document = await compute(patch_document, kind, body, strict=options.validation != IGNORE)
    except StatusError:
        await stored_objects.current(
            server, resource, call.info.namespace, call.info.name
        )  # a missing resourceVersion is reported first
        raise
    faults = () if kind == JSON_PATCH else body.duplicates
    touched = await compute(of_json_patch if kind == JSON_PATCH else of_merge_patch, document)
    context = context_of(server, call, resource, options, touched=touched)
    change = _change(kind, document, resource)
    await apply_change(server, call, context, change, form, options, faults)


def _change(kind: str, document: Any, resource: Resource) -> Change:
    """Return a function from the current object to the patched one; it raises StatusError 400 or 422."""

    def change(old: dict[str, Any]) -> dict[str, Any]:
        new = patched(kind, old, document, resource.api_version, resource.kind)
        metadata = new.get("metadata")
        if isinstance(metadata, dict) and metadata.get("resourceVersion") is None:
            metadata.pop("resourceVersion", None)
        return new

    return change
