"""Compute the nesting depth of a JSON text without parsing it."""

from __future__ import annotations

import re
from itertools import accumulate

from ktui.documents.limits import MAX_DEPTH, DocumentError

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def check_nesting(data: bytes, most: int = MAX_DEPTH) -> None:
    """Raise DocumentError if `data` has more than `most` levels of objects and lists.

    Call it before parsing.
    """
    if data.count(b"[") + data.count(b"{") > most and nesting(data) > most:
        raise DocumentError("exceeded max depth")


def nesting(data: bytes) -> int:
    """Return the deepest level of a JSON text, valid or not."""
    if b"\\" in data:
        data = _ESCAPE.sub(b"", data)
    outside_strings = data.translate(None, _NEITHER_BRACKET_NOR_QUOTE).split(b'"')[::2]
    return max(accumulate(map(_STEP.__getitem__, b"".join(outside_strings))), default=0)
