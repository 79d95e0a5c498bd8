"""JSON patch (RFC 6902) over JSON pointers (RFC 6901), and JSON merge patch (RFC 7386).

The JSON patch is that of kube-apiserver's library, json-patch v4: a member that is missing counts as null, so
it can be replaced and copied; what is before the first slash of a pointer is ignored; -1 is an array's last
item.
"""

from __future__ import annotations

import marshal
import re
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
            copied_bytes += _size(_get(*_parent(document, _pointer(operation, "from"))))
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
    if not isinstance(operation, dict):
        raise PatchFailed("an operation is an object")
    path = _pointer(operation, "path")
    match operation.get("op"):
        case "add":
            _add(*_parent(document, path), _value(operation))
        case "remove":
            _remove(*_parent(document, path))
        case "replace":
            return _replaced(document, path, _value(operation))
        case "move":
            place = _parent(document, _pointer(operation, "from"))
            value = _get(*place)
            _remove(*place)
            _add(*_parent(document, path), value)
        case "copy":
            value = copied(_get(*_parent(document, _pointer(operation, "from"))))
            _add(*_parent(document, path), value)
        case "test":
            found = _get(*_parent(document, path)) if path else document
            if not _equal(found, _value(operation)):
                raise PatchFailed(f"testing value {path} failed")
        case kind:
            raise PatchFailed(f"unknown operation {kind!r}")
    return document


def _value(operation: Obj) -> Any:
    return copied(operation.get("value"))  # a missing one is null, as upstream


def _pointer(operation: Obj, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise PatchFailed(f"the operation needs {name}")
    return pointer


Container = dict[str, Any] | list[Any]


def _parent(document: Any, pointer: str) -> tuple[Container, str]:
    """Return what holds the value at a pointer, and its name or index there (upstream: findObject)."""
    _, *tokens = (token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/"))
    if not tokens or not isinstance(document, dict | list):
        raise PatchFailed(f"{pointer!r} is not in a container")
    holder: Container = document
    for token in tokens[:-1]:
        below = _get(holder, token)
        if not isinstance(below, dict | list):
            raise PatchFailed(f"there is no {token!r}")
        holder = below
    return holder, tokens[-1]


def _get(holder: Container, key: str) -> Any:
    return holder.get(key) if isinstance(holder, dict) else holder[_index(key, len(holder))]


_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def _index(text: str, size: int) -> int:
    """Return an index below `size`; a negative one counts from the end."""
    if not _INDEX.fullmatch(text) or not -size <= int(text) < size:
        raise PatchFailed(f"{text!r} is not an index")
    return int(text) % size


def _add(holder: Container, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder.insert(len(holder) if key == "-" else _index(key, len(holder) + 1), value)


def _remove(holder: Container, key: str) -> None:
    if isinstance(holder, list):
        del holder[_index(key, len(holder))]
    elif key in holder:
        del holder[key]
    else:
        raise PatchFailed(f"there is no {key!r}")


def _replaced(document: Any, pointer: str, value: Any) -> Any:
    if not pointer:
        if not isinstance(value, dict | list):
            raise PatchFailed("a document is an object or an array")
        return value
    holder, key = _parent(document, pointer)
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder[_index(key, len(holder))] = value
    return document


def _equal(one: Any, other: Any) -> bool:
    """Compare by JSON equality as the library does, which compares texts: true is not 1, and 1.0 neither."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
