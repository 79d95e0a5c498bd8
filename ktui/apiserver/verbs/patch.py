"""PATCH: merge patch, JSON patch, strategic merge patch; server-side apply stands beside."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.objects.body import duplicate_fields, json_type, media_type, parse_json
from ktui.apiserver.objects.fitting import duplicate_texts
from ktui.apiserver.objects.options import write_options
from ktui.apiserver.objects.patches.jsonpatch import PatchFailed, json_patch
from ktui.apiserver.objects.patches.merge import merge_patch
from ktui.apiserver.objects.patches.strategic import BadDirective, strategic_merge
from ktui.apiserver.objects.patches.touched import of_json_patch, of_merge_patch
from ktui.apiserver.objects.update import UpdateContext, check_identity
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import applying, writing
from ktui.apiserver.verbs.changing import Change, apply_change, context_of
from ktui.kube.resources import Resource
from ktui.kube.status import (
    StatusError,
    bad_request,
    request_entity_too_large,
    unsupported_media_type,
)

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
MAX_OPERATIONS = 10_000
CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)


async def handle(server: Server, call: Call, resource: Resource) -> None:
    kind = _patch_type(call, resource)
    form, body = await writing.begin(server, call, resource)
    if kind == APPLY:
        await applying.handle(server, call, resource, form, body)
        return
    options = write_options(call.request, "PatchOptions")
    try:
        document = _document(kind, body)
    except StatusError:
        await writing.current(server, resource, call.info.namespace, call.info.name)  # a missing one first
        raise
    faults = [] if kind == JSON_PATCH else duplicate_texts(duplicate_fields(body))
    touched = of_json_patch(document) if kind == JSON_PATCH else of_merge_patch(document)
    context = context_of(server, call, resource, options, touched=touched)
    change = _change(kind, document, context)
    await apply_change(server, call, context, change, form, options, faults)


def _patch_type(call: Call, resource: Resource) -> str:
    kind = media_type(call.request.headers.get("content-type", ""))
    if resource.custom:
        if kind not in CUSTOM_TYPES:
            raise unsupported_media_type(CUSTOM_TYPES)
    elif kind not in TYPES:
        raise StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return kind


def _document(kind: str, body: bytes) -> Any:
    wanted, go_type = (
        (list, "[]handlers.jsonPatchOp") if kind == JSON_PATCH else (dict, "map[string]interface {}")
    )
    try:
        document = parse_json(body)
    except ValueError as error:
        raise bad_request(f"error decoding patch: {error}") from None
    if document is None:
        if kind == MERGE_PATCH:
            raise bad_request("Invalid JSON Patch")
        return wanted()
    if not isinstance(document, wanted):
        raise _undecodable(document, f"value of type {go_type}")
    if isinstance(document, list):
        _check_operations(document)
    return document


def _check_operations(operations: list[Any]) -> None:
    """StatusError 400 for what is no operation, 413 for too many. What one lacks shows when it is tried."""
    for operation in operations:
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(operation, "value of type handlers.jsonPatchOp")
        for name in ("op", "from", "path"):
            member = (operation or {}).get(name)
            if member is not None and not isinstance(member, str):
                raise _undecodable(member, f"struct field jsonPatchOp.{name} of type string")
    if len(operations) > MAX_OPERATIONS:
        raise request_entity_too_large(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )


def _undecodable(value: Any, where: str) -> StatusError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go {where}")


def _change(kind: str, document: Any, context: UpdateContext) -> Change:
    """From the present object to the patched one; StatusError 400, 422."""

    def change(old: dict[str, Any]) -> dict[str, Any]:
        try:
            if kind == JSON_PATCH:
                new = json_patch(old, document)
            elif kind == STRATEGIC:
                new = strategic_merge(old, document)
            else:
                new = merge_patch(old, document)
        except PatchFailed:
            # kube-apiserver tells no more than this.
            raise StatusError(
                422, "Invalid", "the server rejected our request due to an error in our request", {}
            ) from None
        except BadDirective as error:
            raise bad_request(str(error)) from None
        if not isinstance(new, dict):
            raise bad_request("the patch leaves no object")
        check_identity(new, context)
        if (new.get("metadata") or {}).get("resourceVersion") is None:
            new["metadata"].pop("resourceVersion", None)
        return new

    return change
