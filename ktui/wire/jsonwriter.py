"""JSON as Go's encoding/json writes it: what kube-apiserver stores for custom resources."""

import json
from collections.abc import Mapping
from typing import Any

from ktui.wire.errors import CodecError
from ktui.wire.jsontext import float_text

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def text(value: Any) -> bytes:
    """Compact, members in the order given, a newline at the end."""
    return _dump(value, sort=False)


def sorted_text(value: Any) -> bytes:
    """Compact, members sorted: Go writes the maps of an unstructured object so. A newline at the end."""
    return _dump(value, sort=True)


def _dump(value: Any, *, sort: bool) -> bytes:
    try:
        dumped = json.dumps(
            _plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=sort, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise CodecError(f"the object cannot be written as JSON: {error}") from None
    return dumped.translate(_ESCAPES).encode("utf-8", "replace") + b"\n"


class _GoFloat(float):
    """json.dumps prints floats by their __repr__."""

    def __repr__(self) -> str:
        return float_text(self).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return _GoFloat(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
