"""Read a patch and apply it, to objects and to their scales; quote the patched object in errors."""

from __future__ import annotations

import json
from typing import Any

from ktui.apiserver.call import Call
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.status import (
    StatusError,
    bad_request,
    bare_error,
    request_entity_too_large,
    unsupported_media_type,
)
from ktui.wire.schema import message_of
from ktui.writes.decoding.body import (
    APPLY,
    KIND_STRUCT,
    SentBody,
    json_type,
    media_type,
    no_kind,
    refused_patch,
)
from ktui.writes.patches.converter import go_numbers
from ktui.writes.patches.jsonpatch import PatchFailed, json_patch, merge_patch
from ktui.writes.patches.strategic import BadDirective, BadItem, BadList, strategic_merge

Touched = Obj
"""The containers that a patch changes, as a tree of member names."""


def of_merge_patch(patch: Any) -> Touched:
    """Return the containers that a merge patch changes, among them those in the lists that it sets."""
    members = patch.items() if isinstance(patch, dict) else ((str(at), item) for at, item in enumerate(patch))
    return {name: of_merge_patch(value) for name, value in members if isinstance(value, dict | list)}


def of_json_patch(operations: list[Any]) -> Touched:
    """Return the containers on the paths of a JSON patch's operations."""
    touched: Touched = {}
    for operation in operations:
        for member in ("path", "from"):
            pointer = operation.get(member) if isinstance(operation, dict) else None
            if isinstance(pointer, str):
                _mark(touched, pointer)
    return touched


def patched_text(patched: Any, touched: Touched | None) -> str:
    """Return a patched object's compact JSON as kube-apiserver quotes it in errors.

    Upstream's patch library decodes only the containers that a patch changes, and encodes those with sorted
    members; all others keep the order of the type. The outermost object counts as touched. `touched` None: a
    custom resource, all sorted.
    """
    return json.dumps(
        arranged(patched, touched), separators=(",", ":"), ensure_ascii=False, sort_keys=touched is None
    )


def _mark(touched: Touched, pointer: str) -> None:
    for token in pointer.split("/")[1:-1]:
        touched = touched.setdefault(token.replace("~1", "/").replace("~0", "~"), {})


def arranged(value: Any, touched: Touched | None) -> Any:
    """Return a patched object with its members in the order in which upstream decodes them."""
    if touched is not None and isinstance(value, list):
        return [arranged(item, touched.get(str(at))) for at, item in enumerate(value)]
    if touched is not None and isinstance(value, dict):
        return {name: arranged(value[name], touched.get(name)) for name in sorted(value)}
    return value


JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)
MAX_OPERATIONS = 10_000


def patch_type(call: Call, resource: Resource) -> str:
    """Return one of TYPES; raise StatusError 415."""
    kind = media_type(call.request.headers.get("content-type", ""))
    if resource.custom and kind not in CUSTOM_TYPES:
        raise unsupported_media_type(CUSTOM_TYPES)
    if kind not in TYPES:
        raise StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return kind


def patch_document(kind: str, body: SentBody, *, strict: bool = True) -> Any:
    """Return the operations of a JSON patch, or the tree of a merge patch; raise StatusError 400 or 413.

    `strict` is False with fieldValidation=Ignore: a wrong type is reported when the patch is applied.
    """
    wanted = list if kind == JSON_PATCH else dict
    try:
        document = body.document()
    except ValueError as error:
        raise _unreadable(kind, str(error), strict=strict) from None
    if document is None:
        if kind == MERGE_PATCH:
            raise bad_request("Invalid JSON Patch")
        return wanted()
    if not isinstance(document, wanted):
        go_type = "[]handlers.jsonPatchOp" if kind == JSON_PATCH else "map[string]interface {}"
        why = f"json: cannot unmarshal {json_type(document)} into Go value of type {go_type}"
        raise _unreadable(kind, why, strict=strict)
    if isinstance(document, list):
        _check_operations(document, strict=strict)
    return document


def _unreadable(kind: str, why: str, *, strict: bool) -> StatusError:
    """Return the error of the decoder that a kind of patch comes to first."""
    if kind == MERGE_PATCH and not strict:
        return bad_request("Invalid JSON Patch")
    return bad_request(why if kind == STRATEGIC else f"error decoding patch: {why}")


def _check_operations(operations: list[Any], *, strict: bool) -> None:
    """Raise StatusError 400 for an invalid operation, 413 for too many.

    Missing members are reported when the patch is applied.
    """
    for operation in operations:
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(operation, "value of type handlers.jsonPatchOp")
        for name in ("op", "from", "path") if strict else ():
            member = (operation or {}).get(name)
            if member is not None and not isinstance(member, str):
                raise _undecodable(member, f"struct field jsonPatchOp.{name} of type string")
    if (count := len(operations)) > MAX_OPERATIONS:
        most = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}"
        raise request_entity_too_large(f"{most}, got {count}")


def _undecodable(value: Any, where: str) -> StatusError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go {where}")


def patched(kind: str, old: Any, document: Any, api_version: str, of_kind: str) -> Obj:
    """Return the patched `old`, an object of this kind; raise StatusError 400 or 422."""
    try:
        if kind == JSON_PATCH:
            new = json_patch(old, document)
        elif kind == STRATEGIC:
            new = strategic_merge(old, go_numbers(document), message_of(api_version, of_kind) or "")
        else:
            new = merge_patch(old, document)
    except (PatchFailed, BadList):
        # kube-apiserver has no more details.
        message = "the server rejected our request due to an error in our request"
        raise StatusError(422, "Invalid", message, {}) from None
    except BadDirective as error:
        raise bad_request(str(error)) from None
    except BadItem as error:
        raise bare_error(str(error)) from None
    if not isinstance(new, dict):
        raise refused_patch(patched_text(new, {}), str(no_kind(new, f"value of type {KIND_STRUCT}")))
    return new
