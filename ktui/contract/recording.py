"""The recording format: the telemetry stream itself, one JSON event per line.

A recording is what `GET /telemetry` sends, so live, replay and tests share one
reader. Lines of an unknown type are skipped: they come from a newer server.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec

from ktui.contract.events import AnyEvent, ServerInfo


class RecordingError(Exception):
    """A recording cannot be read or written; the message is one sentence."""


LONGEST = 4 << 20  # maximum bytes of a line: an event has a few kilobytes at most
GZIP = ".gz"  # file name extension of a compressed recording
_FOREIGN = (".zst", ".xz", ".bz2", ".zip")

_encoder = msgspec.json.Encoder()
_KNOWN = {member.__struct_config__.tag for member in get_args(AnyEvent)}


class _Tag(msgspec.Struct):
    type: str


_tag_decoder = msgspec.json.Decoder(_Tag)


@cache
def _decoder() -> msgspec.json.Decoder[AnyEvent]:
    """Made when a line is decoded: it takes 3 ms, which a first frame does not need."""
    return msgspec.json.Decoder(AnyEvent)


def check_name(path: Path) -> None:
    """Raise RecordingError for a file name with the extension of an unsupported compression."""
    if path.suffix in _FOREIGN:
        raise RecordingError(f"cannot record to {path}: recordings are plain or gzip, end the name in .gz")


def encode_lines(events: Iterable[AnyEvent]) -> bytes:
    """Return events as NDJSON."""
    return _encoder.encode_lines(events)


def decode_first_line(line: bytes) -> AnyEvent | None:
    """As `decode_line`, for a line that most probably says which server it is."""
    try:
        return msgspec.json.decode(line, type=ServerInfo)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return decode_line(line)


def decode_line(line: bytes) -> AnyEvent | None:
    """Return the event of a line; None for a blank line or a newer ktui's type. Raises RecordingError."""
    try:
        try:
            return _decoder().decode(line)
        except msgspec.ValidationError:
            if _tag_decoder.decode(line).type not in _KNOWN:
                return None
            raise
    except RecursionError:
        raise RecordingError("not a telemetry event: JSON nests too deeply") from None
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        if not line.strip():
            return None
        # Before 0.23 msgspec had an error of its own for that.
        unreadable = isinstance(error, UnicodeDecodeError) or str(error).startswith("Invalid UTF-8")
        why = "a text in it is not UTF-8" if unreadable else str(error)
        raise RecordingError(f"not a telemetry event: {why}") from error


class LineDecoder:
    """Decodes events from chunks of bytes, and keeps an unfinished last line for the next chunk."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[AnyEvent]:
        """Return the events that `chunk` completes. Raises RecordingError."""
        head, found, tail = chunk.rpartition(b"\n")
        self._rest += head if found else tail
        if not found:
            if len(self._rest) > LONGEST:
                raise RecordingError(f"a line is longer than any event ({LONGEST >> 20} MiB)")
            return []
        lines, self._rest = bytes(self._rest).split(b"\n"), bytearray(tail)
        return [event for line in lines if (event := decode_line(line)) is not None]
