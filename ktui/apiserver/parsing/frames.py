"""Frames between the server and a parser process: a kind, a length and content.

A request is one frame (`JSON` or `YAML`, the body). The answer is `DUPLICATES` and one or more
`PIECE`, or `INVALID` or `TOO_LARGE` with the error's text; `END` closes it.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct(">cI")

JSON, YAML = b"j", b"y"
DUPLICATES, PIECE, INVALID, TOO_LARGE, END = b"d", b"p", b"i", b"l", b"."


def frame(kind: bytes, content: bytes = b"") -> bytes:
    return HEADER.pack(kind, len(content)) + content
