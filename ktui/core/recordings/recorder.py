"""Write a recording in a thread, at most a second behind, without blocking the caller."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ktui.contract.events import AnyEvent, Dropped
from ktui.contract.recording import GZIP, RecordingError, check_name, encode_lines
from ktui.private_file import open_private

PAUSE = 0.25  # seconds between two checks for new events
FLUSH = 0.75  # seconds between flushes: with the pause, events are on disk after a second
_BATCH = 1_000  # events encoded at once
BACKLOG = 200_000  # events that may wait for a slow disk; newer ones are counted and dropped


class _Gzip:
    """One gzip member. A sync flush ends a block, so a truncated file is readable up to the last flush."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._deflate = zlib.compressobj(wbits=31)

    def write(self, data: bytes) -> None:
        self._file.write(self._deflate.compress(data))

    def flush(self) -> None:
        self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        with self._file:
            self._file.write(self._deflate.flush(zlib.Z_FINISH))


def _create(path: Path, *, fresh: bool) -> BinaryIO:
    """Open the file, readable by its owner only; an existing one is an error if `fresh`, else emptied."""
    return os.fdopen(open_private(path, os.O_EXCL if fresh else os.O_TRUNC), "wb")


def _out(file: BinaryIO, path: Path) -> BinaryIO | _Gzip:
    return _Gzip(file) if path.suffix == GZIP else file


def write_recording(path: Path, events: Iterable[AnyEvent]) -> int:
    """Write a new file, or none if it fails; return its size in bytes. Raises RecordingError."""
    check_name(path)
    try:
        file = _create(path, fresh=True)
    except OSError as error:
        raise RecordingError(f"cannot write {path}: {error.strerror}") from error
    try:
        with file:
            out, rest = _out(file, path), iter(events)
            while batch := list(islice(rest, _BATCH)):
                out.write(encode_lines(batch))
            out.close()
        return path.stat().st_size
    except (OSError, RecordingError) as error:
        path.unlink(missing_ok=True)
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise RecordingError(f"cannot write {path}: {why}") from error


class Recorder:
    """Appends events to a file; gzip if its name ends in `.gz`. Raises RecordingError.

    An existing file is overwritten; with `fresh` it is an error.
    `problem` is one sentence once an error such as a full disk has stopped the recording, else "".
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        check_name(path)
        try:
            self._file = _create(path, fresh=fresh)
        except OSError as error:
            raise RecordingError(f"cannot record to {path}: {error.strerror}") from error
        self.path = path
        self.problem = ""
        self.bytes = 0  # size of the file so far
        self._out = _out(self._file, path)
        self._queue: deque[Sequence[AnyEvent]] = deque()
        self._taken = 0  # events, counted by the caller's thread
        self._written = 0  # events, counted by the writer's thread
        self._lost = 0
        self.flushed = 0  # events that every reader of the file finds
        self._closing = threading.Event()
        self._writer = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._writer.start()

    @property
    def waiting(self) -> bool:
        """True if anything is not in the file yet."""
        return self._written < self._taken

    @property
    def lost(self) -> int:
        """Number of events that were never flushed to the file, once a `problem` has ended it."""
        return self._taken - self.flushed + self._lost

    def write(self, events: Sequence[AnyEvent]) -> None:
        """Queue events; returns at once. Do not change the sequence afterwards."""
        if not events or self.problem or self._closing.is_set():
            return
        if self._taken - self._written + len(events) > BACKLOG:
            self._lost += len(events)
            return
        if self._lost:
            self._put([Dropped(count=self._lost, at=events[0].at)])
            self._lost = 0
        self._put(events)

    def _put(self, events: Sequence[AnyEvent]) -> None:
        self._taken += len(events)
        self._queue.append(events)

    def close(self) -> None:
        """Write what is queued, and close the file."""
        self._closing.set()
        self._writer.join()

    # The writer's thread.

    def _run(self) -> None:
        flushed, unflushed, last = time.monotonic(), False, False
        try:
            while not last:
                last = self._closing.wait(PAUSE)
                unflushed = self._drain() or unflushed
                if unflushed and time.monotonic() - flushed >= FLUSH:
                    self._out.flush()
                    self.flushed = self._written
                    flushed, unflushed = time.monotonic(), False
                self.bytes = self._file.tell()
            self._out.close()
            self.flushed = self._written
        except OSError as error:
            self.problem = f"cannot continue recording to {self.path}: {error.strerror}"
            self._queue.clear()
            with contextlib.suppress(OSError):  # writing the buffered rest fails again
                self._file.close()

    def _drain(self) -> bool:
        wrote = bool(self._queue)
        while self._queue:
            events = self._queue.popleft()
            self._out.write(encode_lines(events))
            self.bytes = self._file.tell()
            self._written += len(events)
        return wrote
