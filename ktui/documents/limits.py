"""Limits on documents from outside ktui, and JSON of a known type and TOML within them."""

from __future__ import annotations

import re
import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

# Go's libraries allow 10,000 levels; Python's stack holds far fewer, and later steps recurse over the tree.
MAX_DEPTH = 200
# Objects and lists in one document. The largest objects that etcd can store hold about 50,000.
MAX_CONTAINERS = 100_000
# Bytes of a YAML document with its aliases expanded.
MAX_EXPANDED_BYTES = 8 * 1024 * 1024


class DocumentError(ValueError):
    """The document is invalid; str() is the reason, with the message of Go's libraries if they have one."""


class TooLarge(DocumentError):
    """The document is valid as far as it was read, but exceeds a limit."""


def too_many_containers() -> TooLarge:
    return TooLarge(f"limit is {MAX_CONTAINERS} objects and lists in one document")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file. Raises OSError, and TooLarge for more than `most` bytes (/dev/zero)."""
    with path.open("rb") as file:
        return read_stream(file, most)


def read_stream(file: BinaryIO, most: int) -> bytes:
    """Return the rest of an open file. Raises OSError, and TooLarge for more than `most` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise TooLarge(f"it is larger than {most >> 10:,} KiB")
    return data


_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def check_nesting(data: bytes) -> None:
    """Raise DocumentError for more than MAX_DEPTH levels of objects and lists. Call it before parsing."""
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and nesting(data) > MAX_DEPTH:
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
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise DocumentError(_not_utf8(bytes(data)) or str(error)) from None


def _not_utf8(data: bytes) -> str:
    """Return which byte is none of UTF-8; before 0.23 msgspec had an error of its own for that."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"JSON is not UTF-8: byte {error.start} cannot be read"
    return ""


MOST_BYTES = 1 << 20
_MOST_DOTS = 1000  # per line: more levels than any table has, few enough to be fast


def read_toml_text(path: Path) -> str:
    """Return the text of a TOML file. Raises OSError and DocumentError."""
    data = read_bytes(path, MOST_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"it is not UTF-8 text: byte {error.start} cannot be read") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises DocumentError, with the line if known."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _MOST_DOTS:
            raise DocumentError(f"line {number} has more than {_MOST_DOTS:,} dots: no key is that long")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DocumentError("its arrays or tables nest too deeply") from None
    except ValueError as error:  # includes TOMLDecodeError, and a number of thousands of digits
        raise DocumentError(str(error)) from None
