"""The recording format: the telemetry stream itself, one JSON event a line.

A recording is what `GET /telemetry` sends, so live, replay and tests share one
reader. Lines of a type that this version does not know are skipped: a newer
server may send more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from ktui.telemetry.events import AnyEvent

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_KNOWN = {member.__struct_config__.tag for member in get_args(AnyEvent)}


class _Tag(msgspec.Struct):
    type: str


class RecordingError(Exception):
    """A recording cannot be read or written; the message is one clear sentence."""


def encode_lines(events: Iterable[AnyEvent]) -> bytes:
    """Events as NDJSON."""
    return _encoder.encode_lines(events)


def decode_line(line: bytes) -> AnyEvent | None:
    """One event; None for a blank line or a type from a newer ktui. Raises RecordingError."""
    if not line.strip():
        return None
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError) and _is_unknown(line):
            return None
        raise RecordingError(f"no telemetry event: {error}") from error


def _is_unknown(line: bytes) -> bool:
    try:
        return msgspec.json.decode(line, type=_Tag).type not in _KNOWN
    except msgspec.DecodeError:
        return False


class LineDecoder:
    """Bytes as they arrive, whole events out: keeps the broken last line for the next chunk."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[AnyEvent]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [event for line in lines if (event := decode_line(line)) is not None]


class Recorder:
    """Appends events to a file as they pass by."""

    def __init__(self, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("wb")
        except OSError as error:
            raise RecordingError(f"cannot record to {path}: {error.strerror}") from error

    def write(self, events: Iterable[AnyEvent]) -> None:
        self._file.write(encode_lines(events))
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_recording(path: Path) -> Iterator[AnyEvent]:
    """The events of a recording. Raises RecordingError naming the file and line."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from error
    with file:
        for number, line in enumerate(file, 1):
            try:
                event = decode_line(line)
            except RecordingError as error:
                raise RecordingError(f"{path}, line {number}: {error}") from error
            if event is not None:
                yield event
