"""The file with the markers that a user sets in a replay; the recording is never changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from ktui.config.places import state_home
from ktui.contract.events.base import UnixTime
from ktui.core.recordings.markers import TimelineMarker
from ktui.documents.limits import DocumentError, read_bytes
from ktui.documents.typed import decode_json

MOST_BYTES = 4 << 20
_ENDING = ".markers.json"


class _Marker(msgspec.Struct):
    at: UnixTime
    text: str = ""


class _Markers(msgspec.Struct):
    markers: list[_Marker]


class MarkerFile:
    """`FILE.markers.json` next to the recording, or in ktui's state directory if that is not writable.

    `problem` is one sentence if it cannot be read or written, else "".
    """

    def __init__(self, recording: Path) -> None:
        self.problem = ""
        self.markers: list[TimelineMarker] = []
        recording = recording.absolute()  # "." has no name
        self._places = [recording.with_name(recording.name + _ENDING), _in_state(recording)]
        self._damaged = False
        self._read()

    def _read(self) -> None:
        path = next((place for place in self._places if place.is_file()), None)
        if path is None:
            return
        try:
            found = decode_json(read_bytes(path, MOST_BYTES), _Markers)
        except (OSError, DocumentError) as error:
            self.problem, self._damaged = f"cannot read the markers in {path}: {error}", True
            return
        self.markers = [TimelineMarker(item.at, item.text, own=True) for item in found.markers]

    def add(self, marker: TimelineMarker) -> None:
        """Add a marker and save the file, unless the existing file could not be read."""
        self.markers.append(marker)
        if self._damaged:
            return
        text = msgspec.json.encode(_Markers([_Marker(item.at, item.text) for item in self.markers]))
        for place in self._places:
            self.problem = _write(place, text)
            if not self.problem:
                return


def _in_state(recording: Path) -> Path:
    """Return the path in the state directory, for a recording in a directory that is not writable."""
    digest = hashlib.sha256(str(recording.resolve()).encode()).hexdigest()[:16]
    return state_home(os.environ) / "markers" / f"{recording.name}-{digest}{_ENDING}"


def _write(path: Path, text: bytes) -> str:
    """Write a file atomically; return the error as a sentence, "" on success."""
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(text)
        new.replace(path)
    except OSError as error:
        return f"cannot save the marker in {path}: {error.strerror}"
    return ""
