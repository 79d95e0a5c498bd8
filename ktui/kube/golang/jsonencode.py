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


def escaped(text: bytes) -> bytes:
    """Return JSON with the special characters escaped; they occur only inside strings.

    Most texts have none, which is seen in a few fast searches.
    """
    if b"<" in text or b">" in text or b"&" in text or b"\xe2\x80" in text:
        return _SPECIAL.sub(_escape, text)
    return text


def _escape(found: re.Match[bytes]) -> bytes:
    return _ESCAPES[found[0]]


def to_json(value: Any, order: Literal["sorted"] | None = None) -> bytes:
    """Encode `value` as JSON."""
    return escaped(msgspec.json.encode(value, order=order))
