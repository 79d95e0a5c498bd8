"""Convert etcd keys to text and back: keys are any bytes, but screens and URLs need text."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|\\)")


def key_text(key: bytes) -> str:
    r"""A key as text: bytes that are not UTF-8 as `\xff`, a backslash doubled; others unchanged."""
    return key.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def key_bytes(text: str) -> bytes:
    """Return the key for a text from `key_text`."""
    whole, parts, at = text, [], 0
    for escape in _ESCAPE.finditer(whole):
        parts.append(whole[at : escape.start()].encode())
        parts.append(bytes([int(escape[1], 16)]) if escape[1] else b"\\")
        at = escape.end()
    return b"".join([*parts, whole[at:].encode()])
