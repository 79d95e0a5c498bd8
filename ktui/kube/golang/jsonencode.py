"""encoding/json's encoder: characters that are special in HTML or JavaScript are escaped."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec.json

_SPECIAL = re.compile(rb"[<>&]|\xe2\x80[\xa8\xa9]")
_ESCAPES = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    b"\xe2\x80\xa8": b"\\u2028",
    b"\xe2\x80\xa9": b"\\u2029",
}


def to_json(value: Any, order: Literal["sorted"] | None = None) -> bytes:
    """Encode `value` as JSON. The special characters occur only inside strings, so the encoded bytes can be
    replaced.
    """
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], msgspec.json.encode(value, order=order))
