"""JSON patch (RFC 6902) over JSON pointers (RFC 6901), and JSON merge patch (RFC 7386)."""

from __future__ import annotations

import marshal
from typing import Any

from ktui.documents.limits import MAX_DEPTH
from ktui.kube.json_trees import Obj, copied, deeper_than

# kube-apiserver: JSONPatchMaxCopyBytes.
MAX_COPIED_BYTES = 3 * 1024 * 1024


def merge_patch(target: Any, patch: Any) -> Any:
    """A new tree: null removes, objects merge, everything else replaces. The inputs are not changed."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


class PatchFailed(Exception):
    """An operation could not be applied, so no operation of the patch is."""


def json_patch(target: Any, operations: list[Any]) -> Any:
    """Return a new tree with all operations applied in order; raise PatchFailed."""
    document = copied(target)
    copied_bytes = 0
    for operation in operations:
        if isinstance(operation, dict) and operation.get("op") == "copy":
            # Each copy may double the document.
            copied_bytes += _size(_find(document, _from(operation)))
            if copied_bytes > MAX_COPIED_BYTES:
                raise PatchFailed(f"copies of {copied_bytes} bytes exceed the limit {MAX_COPIED_BYTES}")
        document = _apply(document, operation)
    if deeper_than(document, MAX_DEPTH):
        raise PatchFailed("the patched object exceeds the depth of a document")
    return document


def _size(value: Any) -> int:
    try:
        return len(marshal.dumps(value))
    except ValueError:
        raise PatchFailed("the value to copy is nested too deeply") from None


def _apply(document: Any, operation: Any) -> Any:
    if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
        raise PatchFailed("an operation needs a path")
    path = _tokens(operation["path"])
    match operation.get("op"):
        case "add":
            return _add(document, path, _value(operation))
        case "remove":
            return _remove(document, path)[0]
        case "replace":
            return _replace(document, path, _value(operation))
        case "move":
            document, value = _remove(document, _from(operation))
            return _add(document, path, value)
        case "copy":
            return _add(document, path, copied(_find(document, _from(operation))))
        case "test":
            parent = _find(document, path[:-1]) if path else None
            missing = isinstance(parent, dict) and path[-1] not in parent  # counts as null
            if not _equal(None if missing else _find(document, path), _value(operation)):
                raise PatchFailed(f"testing value {operation['path']} failed")
            return document
    raise PatchFailed(f"unknown operation {operation.get('op')!r}")


def _value(operation: Obj) -> Any:
    return copied(operation.get("value"))  # a missing one is null, as upstream


def _from(operation: Obj) -> list[str]:
    if not isinstance(operation.get("from"), str):
        raise PatchFailed("the operation needs from")
    return _tokens(operation["from"])


def _tokens(pointer: str) -> list[str]:
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise PatchFailed(f"{pointer!r} is not a JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def _find(document: Any, path: list[str]) -> Any:
    for token in path:
        if isinstance(document, dict) and token in document:
            document = document[token]
        elif isinstance(document, list):
            document = document[_index(token, len(document) - 1)]
        else:
            raise PatchFailed(f"there is no {token!r}")
    return document


def _index(token: str, greatest: int) -> int:
    if not (token.isascii() and token.isdigit()) or (token != "0" and token.startswith("0")):
        raise PatchFailed(f"{token!r} is not an index")
    if int(token) > greatest:
        raise PatchFailed(f"index {token} is out of range")
    return int(token)


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        raise PatchFailed("the whole document cannot be added")
    parent, last = _find(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent)), value)
    else:
        raise PatchFailed(f"{last!r} cannot be added there")
    return document


def _remove(document: Any, path: list[str]) -> tuple[Any, Any]:
    if not path:
        raise PatchFailed("the whole document cannot be removed")
    gone = _find(document, path)
    parent, last = _find(document, path[:-1]), path[-1]
    del parent[int(last) if isinstance(parent, list) else last]
    return document, gone


def _replace(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    _find(document, path)
    parent, last = _find(document, path[:-1]), path[-1]
    parent[int(last) if isinstance(parent, list) else last] = value
    return document


def _equal(one: Any, other: Any) -> bool:
    """Compare by JSON equality: true is not 1."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
