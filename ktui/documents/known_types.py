"""Decode JSON from outside ktui as a known type, with errors of one sentence."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TypeVar

import msgspec

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


T = TypeVar("T")


def decode_json(data: bytes | bytearray, kind: type[T], *, strict: bool = True) -> T:
    """Decode `data` as `kind`; without `strict` numbers may be strings. Raises DocumentError."""
    check_nesting(bytes(data))
    try:
        return msgspec.json.decode(data, type=kind, strict=strict)
    except RecursionError:
        raise DocumentError("JSON nests too deeply") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"JSON is not UTF-8: byte {error.start} cannot be read") from None
    except msgspec.DecodeError as error:
        raise DocumentError(str(error)) from None
