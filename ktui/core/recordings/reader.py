"""A recording on disk: its lines with their offsets, decoded on demand, never all in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, NamedTuple

from ktui.contract.events import AnyEvent
from ktui.contract.recording import LONGEST, RecordingError, decode_line
from ktui.core.recordings.segments import GZIP_MAGIC, ReportShare, choose_segments, unpacked

_AHEAD = 1 << 16  # bytes of lines read at a time


class Line(NamedTuple):
    """One line: its offset, its event (None: blank, or of a newer ktui), and the offset of its end."""

    start: int
    event: AnyEvent | None
    end: int


class RecordingReader(AbstractContextManager["RecordingReader"]):
    """A recording opened for reading; compressed ones are unpacked into a nameless temporary file.

    A directory of segments is read as one recording, of at most `segments.MOST_JOINED` bytes.
    `stored` is its size on disk in bytes. `warning` is one sentence about what could not be read at its
    end, "" if all could.
    Raises RecordingError, with one sentence, for a file that is not a recording.
    """

    def __init__(self, path: Path, report: ReportShare = lambda share: None) -> None:
        self.path = path
        self.warning = ""
        self._was_whole = False  # read to its end once: a later error means that the file was changed
        self._window = 0, b""  # offset and bytes of what `event_at` has read
        try:
            if path.exists() and not (path.is_file() or path.is_dir()):
                raise RecordingError(f"{path} is not a file")  # a pipe may never end
            self.stored, self._file = self._opened(report)
            self.size = self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise RecordingError(f"cannot read {path}: {error.strerror or error}") from error
        if not self.size:
            self._file.close()
            nothing, lost = "is empty: nothing was recorded", "is damaged: none of it can be unpacked"
            raise RecordingError(f"{path} {lost if self.warning else nothing}")

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def lines(self, start: int = 0, number: int = 1) -> Iterator[Line]:
        """Yield the lines from offset `start` on; the first is line `number` of the file."""
        held, at = b"", 0  # bytes of the file; the line at `start` begins at `at` in them
        while start < self.size:
            end = held.find(b"\n", at) + 1
            if not end:
                held, at = held[at:], 0
                if len(held) <= LONGEST and start + len(held) < self.size:
                    held += self._read(start + len(held), _AHEAD)
                    continue
                if self._unfinished(held, number):
                    break
                end = len(held)
            text = held[at:end]
            try:
                yield Line(start, decode_line(text), start + len(text))
            except RecordingError as error:
                if self._was_whole:
                    raise self._changed() from error
                what = "is not a recording" if number == 1 else "is damaged"
                raise RecordingError(f"{self.path} {what}: line {number}: {error}") from error
            start, at, number = start + len(text), end, number + 1
        self._was_whole = True

    def event_at(self, start: int) -> AnyEvent:
        """Return the event of the line at offset `start`, an offset that `lines` yielded."""
        base, held = self._window
        at = start - base
        end = held.find(b"\n", at) + 1 if 0 <= at < len(held) else 0
        if not end:
            at, held = 0, b""
            while not end and start + len(held) < self.size and len(held) <= LONGEST:
                held += self._read(start + len(held), _AHEAD)
                end = held.find(b"\n") + 1
            self._window = start, held
        try:
            event = decode_line(held[at : end or len(held)])
        except RecordingError as error:
            raise self._changed() from error
        if event is None:  # only offsets of events are kept
            raise self._changed()
        return event

    def _read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file, by pread: reading a mapped file that has shrunk is a SIGBUS."""
        content = os.pread(self._file.fileno(), min(size, self.size - offset), offset)
        if not content:
            raise self._changed()
        return content

    def _changed(self) -> RecordingError:
        return RecordingError(f"{self.path} was changed or truncated while it was read")

    def _unfinished(self, text: bytes, number: int) -> bool:
        """True if the last line was cut off; it may also just lack its line feed."""
        if len(text) > LONGEST:
            reason = f"line {number} is longer than any event ({LONGEST >> 20} MiB)"
            raise RecordingError(f"{self.path} is not a recording: {reason}")
        try:
            decode_line(text)
        except RecordingError as error:
            if self._was_whole and not self.warning:
                raise self._changed() from error
            if number == 1 and not self._was_whole:
                raise RecordingError(f"{self.path} is not a recording: line 1: {error}") from error
            self._warn(f"line {number} is incomplete")
            return True
        return False

    def _warn(self, what: str) -> None:
        self.warning = self.warning or f"{what}; everything before it is readable"

    # Compressed recordings, and segments.

    def _opened(self, report: ReportShare) -> tuple[int, IO[bytes]]:
        """Return the bytes on disk, and the file to read: the recording itself, or what is unpacked of it."""
        if not self.path.is_dir():
            file = self.path.open("rb")
            packed, size = file.read(2) == GZIP_MAGIC, file.seek(0, os.SEEK_END)
            if not packed:
                return size, file
            file.close()
        plain = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the reader
        try:
            if self.path.is_dir():
                size = self._join(plain, report)
            else:
                plain.writelines(unpacked(self.path, self._warn, report))
        except RecordingError:
            plain.close()
            raise
        plain.flush()
        return size, plain

    def _join(self, plain: IO[bytes], report: ReportShare) -> int:
        """Write all whole lines of the segments; return the segments' bytes on disk."""
        chosen = choose_segments(self.path, lambda share: report(share / 2))
        stored = 0
        for done, path in enumerate(chosen.paths):
            stored += self._append(path, plain)
            report((1 + done / len(chosen.paths)) / 2)
        self.warning = "; ".join(filter(None, (chosen.warning, self.warning)))
        return stored

    def _append(self, path: Path, plain: IO[bytes]) -> int:
        """Append the whole lines of a segment; return its bytes on disk, 0 if it was rotated meanwhile."""
        start = end = plain.tell()
        size = 0
        try:
            for piece in unpacked(path, lambda text: self._warn(f"{path.name}: {text}")):
                if (found := piece.rfind(b"\n")) >= 0:
                    end = plain.tell() + found + 1
                plain.write(piece)
            size = path.stat().st_size
        except FileNotFoundError:
            end = start
        if plain.tell() > end and not self.warning:
            self._warn(f"{path.name}: its last line is incomplete")
        plain.seek(end)
        plain.truncate()
        return size
