"""PATCH: merge patch, JSON patch, strategic merge patch; server-side apply stands beside."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.objects.body import json_type, media_type, parse_json
from ktui.apiserver.objects.options import write_options
from ktui.apiserver.objects.patches.jsonpatch import PatchFailed, json_patch
from ktui.apiserver.objects.patches.merge import merge_patch
from ktui.apiserver.objects.patches.strategic import BadDirective, strategic_merge
from ktui.apiserver.objects.patches.touched import of_json_patch, of_merge_patch
from ktui.apiserver.objects.update import UpdateContext, check_identity
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import applying, writing
from ktui.apiserver.verbs.changing import Change, apply_change
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, unsupported_media_type

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)


async def handle(server: Server, call: Call, resource: Resource) -> None:
    kind = _patch_type(call, resource)
    form, body = await writing.begin(server, call, resource)
    if kind == APPLY:
        await applying.handle(server, call, resource, form, body)
        return
    options = write_options(call.request, "PatchOptions")
    info = call.info
    document = _document(kind, body)
    touched = of_json_patch(document) if kind == JSON_PATCH else of_merge_patch(document)
    context = UpdateContext(
        resource,
        info.namespace,
        info.name,
        info.subresource,
        options.field_manager,
        whole=False,
        touched=touched,
    )
    change = _change(kind, document, context)
    await apply_change(server, call, context, change, form, options)


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
    if not isinstance(document, wanted):
        what = json_type(document)
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {what} into Go value of type {go_type}"
        )
    return document


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
