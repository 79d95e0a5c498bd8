"""Write JSON as Go's encoding/json does, which is how kube-apiserver stores custom resources."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from ktui.kube.golang.jsonencode import to_json
from ktui.wire.errors import CodecError
from ktui.wire.jsontext import float_text


def text(value: Any) -> bytes:
    """Return compact JSON with the members in the given order and a trailing newline."""
    return _dump(value, None)


def sorted_text(value: Any) -> bytes:
    """Compact JSON with sorted members, as Go writes maps of unstructured objects, and a trailing newline."""
    return _dump(value, "sorted")


def _dump(value: Any, order: Literal["sorted"] | None) -> bytes:
    try:
        return to_json(_plain(value), order) + b"\n"
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise CodecError(f"the object cannot be written as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Convert numbers as in Go: int64, or float64 for everything else."""
    kind = type(value)
    if kind is str:
        return value
    if kind is dict:
        return {name: _plain(item) for name, item in value.items()} if value else value
    if isinstance(value, float):
        return msgspec.Raw(float_text(value))
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return msgspec.Raw(float_text(float(value)))
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
