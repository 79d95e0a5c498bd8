"""Record into a directory without end: segments that rotate by age and size, and the oldest are deleted.

A segment begins with the state at that time, so each of them can be replayed alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ktui.contract.events import AnyEvent, Dropped
from ktui.contract.recording import RecordingError
from ktui.core.format import long_bytes
from ktui.core.recordings.recorder import Recorder
from ktui.core.recordings.segments import number_of, segment_name, segments_of, unpacked
from ktui.private_file import open_private

PARTS = 8  # the maximum size has room for this many segments, and the retention lasts for at least as many
LONGEST_SEGMENT = 3600.0  # seconds
RETRY = 30.0  # seconds until a segment is begun again after an error such as a full disk
_TORN = ".torn"  # a repaired copy while it is written

Beginning = Callable[[], Sequence[AnyEvent]]  # returns the events of the current state


class SegmentedRecorder:
    """Writes events into the segments of a directory. Raises RecordingError if it cannot begin.

    `retention` is in seconds, `most` in bytes. An error such as a full disk ends a segment, which stays
    readable; the next one is begun once it is possible, and has the number of events missing between them.
    `tell` takes sentences about that. All methods take the current time in Unix seconds.
    """

    def __init__(
        self, directory: Path, retention: float, most: int, now: float, tell: Callable[[str], None]
    ) -> None:
        self.directory = directory
        self.problem = ""  # why nothing is written now; "" while it is
        self.segments = 0  # begun by this recorder
        self.deleted = 0
        self.events = self.missing = 0  # written, and lost to errors
        self._retention = retention
        self._most = most
        self._tell = tell
        self._recorder: Recorder | None = None
        self._began = self._retry = 0.0
        self._lost = 0  # events since `problem`
        self._head = self._gap = 0  # events that the current segment begins with, and the missing ones before
        self._written_bytes = 0  # of the closed segments
        self._lock = self._locked()
        try:
            self._repair()
            self._prune(now)
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def bytes(self) -> int:
        return self._written_bytes + (self._recorder.bytes if self._recorder is not None else 0)

    def write(self, events: Sequence[AnyEvent], beginning: Beginning, now: float) -> None:
        """Write events; begins a segment with `beginning` if one is due. `beginning` has not these events."""
        if not events:
            return
        recorder = self._recorder
        if recorder is not None and recorder.problem:
            self._end()
            self._give_up(recorder, now)
        elif recorder is not None:
            seconds = min(LONGEST_SEGMENT, self._retention / PARTS)
            if recorder.bytes >= self._most // PARTS or not 0 <= now - self._began < seconds:
                self._end()
        if self._recorder is None and now >= self._retry:
            self._begin(beginning, now)
        if self._recorder is None:
            self._lost += len(events)
            self.missing += len(events)
            return
        self._recorder.write(events)
        self.events += len(events)

    def close(self) -> None:
        recorder = self._recorder
        self._end()
        if recorder is not None and recorder.problem:
            self._give_up(recorder, self._began)
        os.close(self._lock)

    # Segments.

    def _begin(self, beginning: Beginning, now: float) -> None:
        try:
            self._prune(now)
            number = max(map(number_of, segments_of(self.directory)), default=0) + 1
            self._recorder = Recorder(self.directory / segment_name(number, now), fresh=True)
        except RecordingError as error:
            self._fail(str(error), now)
            return
        self._began = now
        self.segments += 1
        head = [*beginning()]
        if self._lost:  # after the server, by which a replay is recognised
            head.insert(1, Dropped(count=self._lost, at=now))
        if self.problem:
            self._tell(f"recording again into {self._recorder.path.name}")
        self.problem, self._head, self._gap, self._lost = "", len(head), self._lost, 0
        self._recorder.write(head)

    def _end(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()
            self._written_bytes += recorder.bytes

    def _give_up(self, recorder: Recorder, now: float) -> None:
        """Keep what a failed segment has; without a whole line it is deleted."""
        lost = recorder.lost
        if not recorder.flushed:
            lost -= self._head
            self._lost += self._gap
        self.events, self.missing, self._lost = self.events - lost, self.missing + lost, self._lost + lost
        with contextlib.suppress(OSError, RecordingError):
            if not any(b"\n" in piece for piece in unpacked(recorder.path)):
                recorder.path.unlink()
                self.segments -= 1
        self._fail(recorder.problem, now)

    def _fail(self, problem: str, now: float) -> None:
        if not self.problem:
            self._tell(f"{problem}; what was recorded stays readable, tried again every {RETRY:.0f} s")
        self.problem, self._retry = problem, now + RETRY

    def _prune(self, now: float) -> None:
        """Delete the oldest segments: those that ended before the retention, or that exceed the size."""
        room = self._most - self._most // PARTS  # the rest is for the next one
        for path in reversed(segments_of(self.directory)):
            try:
                status = path.stat()
                room -= status.st_size
                if room < 0 or status.st_mtime < now - self._retention:
                    path.unlink()
                    self.deleted += 1
            except FileNotFoundError:
                continue
            except OSError as error:
                raise RecordingError(f"cannot delete {path}: {error.strerror}") from error

    # The directory.

    def _locked(self) -> int:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise RecordingError(f"cannot record into {self.directory}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise RecordingError(f"another `ktui record` writes into {self.directory}") from None
        return descriptor

    def _repair(self) -> None:
        """Cut the newest segment after its last whole line, if its recorder was killed."""
        for path in self.directory.glob(f"*{_TORN}"):
            path.unlink(missing_ok=True)
        found = segments_of(self.directory)
        if not found:
            return
        try:
            cut = _cut_torn_end(found[-1])
        except (OSError, RecordingError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._tell(f"the end of {found[-1].name} is torn and cannot be cut ({why}); readers skip it")
            return
        if cut is not None:
            what = f"{long_bytes(cut)} of an unfinished line cut" if cut else "no line was cut"
            self._tell(f"{found[-1].name} was not ended by its recorder: {what}")


def _cut_torn_end(path: Path) -> int | None:
    """Write a segment again without its unfinished last line, if it was not ended properly.

    Return the bytes of that line; None if the segment is whole. Raises OSError, RecordingError.
    """
    wrong: list[str] = []
    last = b"\n"
    for piece in unpacked(path, wrong.append):
        last = piece[-1:] or last
    if not wrong and last == b"\n":
        return None
    copy, rest, deflate = path.with_name(path.name + _TORN), b"", zlib.compressobj(wbits=31)
    try:
        with os.fdopen(open_private(copy, os.O_TRUNC), "wb") as out:
            for piece in unpacked(path):
                whole, newline, tail = piece.rpartition(b"\n")
                if newline:
                    out.write(deflate.compress(rest + whole + newline))
                    rest = b""
                rest += tail
            out.write(deflate.flush())
        times = path.stat()
        os.utime(copy, (times.st_atime, times.st_mtime))
        copy.replace(path)
    finally:
        copy.unlink(missing_ok=True)
    return len(rest)
