"""A recording on disk: its lines with their offsets, decoded on demand, never all in memory."""

from __future__ import annotations

import mmap
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from ktui.contract.errors import RecordingError
from ktui.contract.events import AnyEvent
from ktui.contract.recording import LONGEST, decode_line
from ktui.core.recordings.first_line import GZIP_MAGIC

_CHUNK = 1 << 14  # bytes read at a time: also how much a damaged place loses
_PIECE = 8 << 20  # bytes unpacked at a time, however high the compression ratio
# A recording compresses 10 to 30 times; a file with a higher ratio fills the disk, and is not a recording.
MOST_RATIO = 200
MOST_UNPACKED = 64 << 20  # bytes that any recording may have
ReportShare = Callable[[float], None]  # takes the share (0 to 1) that has been read


class Line(NamedTuple):
    """One line: its offset, its event (None: blank, or of a newer ktui), and where it ends."""

    start: int
    event: AnyEvent | None
    end: int


class RecordingReader:
    """A recording opened for reading; compressed ones are unpacked into a nameless temporary file.

    `warning` is one sentence about what could not be read at its end, "" if all could.
    Raises RecordingError, with one sentence, for a file that is not a recording.
    """

    def __init__(self, path: Path, report: ReportShare = lambda share: None) -> None:
        self.path = path
        self.warning = ""
        try:
            with self._unpacked(path.open("rb"), report) as plain:
                self._map = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise RecordingError(f"cannot read {path}: {error.strerror or error}") from error
        except ValueError as error:  # nothing to map
            nothing, lost = "is empty: nothing was recorded", "is damaged: nothing of it can be unpacked"
            why = lost if self.warning else nothing
            raise RecordingError(f"{path} {why}") from error

    def __enter__(self) -> RecordingReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._map.close()

    @property
    def size(self) -> int:
        """Bytes, unpacked."""
        return len(self._map)

    def lines(self, start: int = 0, number: int = 1) -> Iterator[Line]:
        """The lines from offset `start` on; the first is line `number` of the file."""
        size, text = self.size, self._map
        while start < size:
            end = text.find(b"\n", start, start + LONGEST) + 1
            if not end:
                if self._unfinished(start, number):
                    return
                end = size
            try:
                yield Line(start, decode_line(text[start:end]), end)
            except RecordingError as error:
                what = "is no recording" if number == 1 else "is damaged"
                raise RecordingError(f"{self.path} {what}: line {number}: {error}") from error
            start, number = end, number + 1

    def forget(self) -> None:
        """Release the memory of what has been read: it is read from disk again if needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def event_at(self, start: int) -> AnyEvent:
        """The event of the line at offset `start`, as yielded by `lines`."""
        event = decode_line(self._map[start : self._map.find(b"\n", start) + 1 or self.size])
        assert event is not None, "only events' places are kept"
        return event

    def _unfinished(self, start: int, number: int) -> bool:
        """True if the last line was cut off; it may also just lack its line feed."""
        if self.size - start > LONGEST:
            text = f"line {number} is longer than any event ({LONGEST >> 20} MiB)"
            raise RecordingError(f"{self.path} is no recording: {text}")
        try:
            decode_line(self._map[start:])
        except RecordingError as error:
            if number == 1:
                raise RecordingError(f"{self.path} is no recording: line 1: {error}") from error
            self._warn(f"line {number} was broken off")
            return True
        return False

    def _warn(self, what: str) -> None:
        self.warning = self.warning or f"{what}; all before it can be read"

    # Compressed recordings.

    def _unpacked(self, file: IO[bytes], report: ReportShare) -> IO[bytes]:
        if file.read(2) != GZIP_MAGIC:
            return file
        total = file.seek(0, 2) or 1
        file.seek(0)
        most = max(MOST_UNPACKED, MOST_RATIO * total)
        plain = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the reader
        with file:
            for piece in self._inflated(file):
                if plain.tell() + len(piece) > most:
                    plain.close()
                    said = f"unpacked it has more than {MOST_RATIO} times its size"
                    raise RecordingError(f"{self.path} is not a recording: {said}")
                plain.write(piece)
                report(file.tell() / total)
        plain.flush()
        return plain

    def _inflated(self, file: IO[bytes]) -> Iterator[bytes]:
        """What can be unpacked; a cut-off or damaged end gives a warning."""
        inflate = zlib.decompressobj(wbits=31)
        rest = b""
        while rest or (rest := file.read(_CHUNK)):
            if inflate.eof:  # another gzip member follows
                inflate = zlib.decompressobj(wbits=31)
            try:
                yield inflate.decompress(rest, _PIECE)
            except zlib.error:
                self._warn("its gzip data is damaged")
                return
            rest = inflate.unconsumed_tail or inflate.unused_data
        if not inflate.eof:
            self._warn("its gzip data was broken off")


def read_recording(path: Path) -> Iterator[AnyEvent]:
    """The events of a recording. Raises RecordingError naming the file, and the line if one is wrong.

    An unfinished line at the end (ktui was killed) is skipped; `RecordingReader.warning` reports it.
    """
    with RecordingReader(path) as reader:
        for line in reader.lines():
            if line.event is not None:
                yield line.event
