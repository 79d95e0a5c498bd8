"""Decode JSON from outside ktui as a known type, with errors of one sentence."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ktui.documents.limits import DocumentError
from ktui.documents.nesting import check_nesting

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
