"""Blocks of PEM as Go's `pem.Decode` finds them: text around them is skipped, broken ones too."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"\n-----END ", b"-----"
_BLANKS = b" \t\r"


@dataclass(frozen=True, slots=True)
class PemBlock:
    """One block: its type, whether it has headers, and its bytes."""

    kind: str
    has_headers: bool
    data: bytes


def pem_blocks(text: bytes) -> Iterator[PemBlock]:
    """Yield the blocks of a text, each between the first END line and the last BEGIN line before it."""
    at = 0
    while (end := text.find(_END, at)) >= 0:
        begin = text.rfind(_BEGIN, at, end + 1)
        found = None
        if begin == at or (begin > at and text[begin - 1 : begin] == b"\n"):
            found = _block(text, begin + len(_BEGIN), end)
        if found is None:
            at = end + len(_END)
            continue
        yield found
        line = text.find(b"\n", end + 1)
        at = len(text) if line < 0 else line + 1


def _block(text: bytes, begin: int, end: int) -> PemBlock | None:
    """Return the block whose type is at `begin` and whose END line is at `end`; None if it is broken."""
    first = text.find(b"\n", begin, end + 1)
    kind = text[begin:first].rstrip(_BLANKS)
    if not kind.endswith(_DASHES):
        return None
    kind = kind.removesuffix(_DASHES)
    after = end + len(_END)
    line_end = text.find(b"\n", after)
    last = text[after : len(text) if line_end < 0 else line_end].rstrip(_BLANKS)
    if last != kind + _DASHES:
        return None
    body, headers = first + 1, False
    while body <= end:
        line = text.find(b"\n", body, end + 1)
        if b":" not in text[body:line]:
            break
        body, headers = line + 1, True
    if headers and body > end:
        return None
    try:
        data = b64decode(text[body:end].translate(None, b" \t\r\n"), validate=True)
    except binascii.Error:
        return None
    return PemBlock(kind.decode("utf-8", "replace"), headers, data)
