"""Read single fields of protobuf messages by their numbers, for WATCH streams in protobuf."""

from __future__ import annotations

from collections.abc import Iterator

_ENVELOPE = b"k8s\0"  # magic number before a runtime.Unknown message
_VARINT, _BYTES = 0, 2


def member(message: bytes, *path: int) -> bytes:
    """Return the bytes of the field at `path`, field numbers from the outside in; b"" if missing."""
    for number in path:
        fields = _fields(message.removeprefix(_ENVELOPE))
        message = next((content for found, content in fields if found == number), b"")
    return message


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each length-delimited field; a malformed rest is left out."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        size, at = _varint(message, at)
        if tag & 7 == _BYTES:
            yield tag >> 3, message[at : at + size]
            at += size
        elif tag & 7 != _VARINT:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at
