"""The recording format: the telemetry stream itself, one JSON event a line.

A recording is what `GET /telemetry` sends, so live, replay and tests share one
reader. Lines of a type that this version does not know are skipped: a newer
server may send more.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import msgspec

from ktui.contract.errors import RecordingError
from ktui.contract.events import AnyEvent

GZIP = ".gz"  # the ending of a compressed recording's name
_FOREIGN = (".zst", ".xz", ".bz2", ".zip")

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_KNOWN = {member.__struct_config__.tag for member in get_args(AnyEvent)}


class _Tag(msgspec.Struct):
    type: str


def check_name(path: Path) -> None:
    """RecordingError for a name that promises a compression which recordings do not have."""
    if path.suffix in _FOREIGN:
        raise RecordingError(f"cannot record to {path}: recordings are plain or gzip, end the name in .gz")


def encode_lines(events: Iterable[AnyEvent]) -> bytes:
    """Events as NDJSON."""
    return _encoder.encode_lines(events)


def decode_line(line: bytes) -> AnyEvent | None:
    """One event; None for a blank line or a type from a newer ktui. Raises RecordingError."""
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError as error:
        if not line.strip():
            return None
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
