"""Write the lines of a log in a thread, from a bounded queue, so that requests do not wait for the disk."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Rotation:
    """The limits of a log file; 0: no limit. Without `megabytes` the file is never rotated."""

    megabytes: int = 0
    backups: int = 0
    days: int = 0


class PartlyWritten(OSError):
    """Only the first `lines` were written: the disk is full, or the file may not grow."""

    def __init__(self, cause: OSError, lines: int) -> None:
        super().__init__(cause.errno, cause.strerror)
        self.lines = lines


class LogFile:
    """Appends to a file, rotated by size as by upstream's log backend (lumberjack).

    `audit.log` is renamed to `audit-2026-11-22T10-04-05.123.log`; a new file has mode 0600. All methods raise
    OSError.
    """

    def __init__(self, path: Path, rotation: Rotation = Rotation()) -> None:
        self._path = path
        self._rotation = rotation
        self._file = _opened(path)
        self._size = path.stat().st_size

    def write(self, data: bytes) -> None:
        """Append whole lines; rotate before if they would exceed the size limit.

        Raises PartlyWritten if there is no room for all of them: a line of which only a part was written is
        removed from the file.
        """
        most = self._rotation.megabytes << 20
        if most and self._size and self._size + len(data) > most:
            self._rotate()
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, memoryview(data)[done:])
        except OSError as error:
            whole = data.rfind(b"\n", 0, done) + 1
            if done > whole:
                with suppress(OSError):  # what is no file (a FIFO, a device) keeps it
                    os.ftruncate(self._file, os.fstat(self._file).st_size - (done - whole))
            self._size += whole
            raise PartlyWritten(error, data.count(b"\n", 0, whole)) from error
        self._size += done

    def close(self) -> None:
        os.close(self._file)

    def _rotate(self) -> None:
        """Rename the file and open a new one. If that fails, lines go on into the old one."""
        path = self._path
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
        renamed = path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
        try:
            opened = _opened(path)
        except OSError:
            renamed.rename(path)
            raise
        os.close(self._file)
        self._file, self._size = opened, 0
        for old in self._outdated():
            old.unlink(missing_ok=True)

    def _outdated(self) -> Iterator[Path]:
        """Return the rotated files beyond the limits."""
        path, limits = self._path, self._rotation
        stamp = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}"
        named = re.compile(f"{re.escape(path.stem)}-{stamp}{re.escape(path.suffix)}")
        old = sorted(file for file in path.parent.iterdir() if named.fullmatch(file.name))
        kept = old[-limits.backups :] if limits.backups else old
        oldest = time.time() - limits.days * _DAY if limits.days else 0.0
        return (file for file in old if file not in kept or file.stat().st_mtime < oldest)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


log = logging.getLogger(__name__)

QUEUED = 10_000  # lines
QUEUED_BYTES = 64 * 1024 * 1024  # that lines keep until they are written
AT_ONCE = 400  # lines written together
AT_ONCE_BYTES = 1024 * 1024
Line = Callable[[], bytes]
"""Returns an encoded line; called in the thread."""


@dataclass(eq=False)
class LogWriter:
    """Writes lines in a thread. `put` never waits.

    While the queue is full, `wait_for_room` waits if `blocking`; otherwise lines are dropped. `write`
    appends lines and may raise OSError, whose `lines` are the number of lines that it did write; `name` is
    used in messages. `changed` is called on the loop when writing begins to fail, and when it works again.
    """

    name: str
    write: Callable[[bytes], None]
    blocking: bool = True
    queued: int = QUEUED  # at most
    changed: Callable[[], None] = lambda: None
    dropped = 0  # as the queue was full
    problem = ""  # why no line can be written now
    _unwritten = 0  # lines that could not be encoded or written
    _gap = ""
    _bytes = 0
    _loop: asyncio.AbstractEventLoop | None = None
    _waited_for = False
    _since, _before = 0.0, 0  # of the present failure: its time, the lines lost until then

    def __post_init__(self) -> None:
        self._lines: queue.SimpleQueue[tuple[Line, int] | None] = queue.SimpleQueue()
        self._counting = threading.Lock()
        self._drained = asyncio.Event()
        self._thread = threading.Thread(target=self._work, name="log writer", daemon=True)

    def start(self) -> None:
        """Call it on the event loop of the requests."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Write the queued lines, and end the thread."""
        self._lines.put(None)
        await asyncio.to_thread(self._thread.join)
        if self.dropped:
            log.warning("%d lines of %s were dropped: its disk is too slow", self.dropped, self.name)

    @property
    def lost(self) -> int:
        """The number of lines that are not in the log."""
        return self.dropped + self._unwritten

    def warnings(self) -> list[str]:
        """Return sentences for users: the log cannot be written, or lacks lines since it could not be."""
        if self.problem:
            return [f"{self.name} cannot be written, its lines are lost: {self.problem}"]
        return [self._gap] if self._gap else []

    def put(self, line: Line, size: int = 0) -> None:
        """Queue a line; `size` is the number of bytes that it keeps until it is written."""
        if not self.blocking and self._full:
            self.dropped += 1
            return
        self._count(size)
        self._lines.put((line, size))

    async def wait_for_room(self) -> None:
        while self.blocking and self._full and self._thread.is_alive():
            self._drained.clear()
            self._waited_for = True
            if self._full:  # checked again: the thread may have emptied the queue meanwhile
                await self._drained.wait()

    @property
    def _full(self) -> bool:
        return self._lines.qsize() >= self.queued or self._bytes >= QUEUED_BYTES

    def _count(self, size: int) -> None:
        with self._counting:
            self._bytes += size

    # In the thread.

    def _work(self) -> None:
        while queued := self._batch():
            lines = list(self._encoded([line for line, _ in queued]))
            try:
                self.write(b"".join(lines))
            except OSError as error:
                self._failed(error, len(lines))
            else:
                if self.problem:
                    self._resumed()
            self._count(-sum(size for _, size in queued))
            if self._waited_for and self._loop is not None:
                self._waited_for = False
                self._loop.call_soon_threadsafe(self._drained.set)

    def _failed(self, error: OSError, lines: int) -> None:
        """Count the lines; log the first failure only, as a full disk fails for each line."""
        before = self._unwritten
        self._unwritten += lines - getattr(error, "lines", 0)
        if self.problem:
            return
        self.problem = error.strerror or str(error)
        self._since, self._before = time.time(), before
        log.error("%s cannot be written, its lines are lost: %s", self.name, self.problem)
        self._tell()

    def _resumed(self) -> None:
        self._gap = (
            f"{self.name} lacks {self._unwritten - self._before:,} lines: it could not be written from "
            f"{_clock(self._since)} to {_clock(time.time())} ({self.problem})"
        )
        self.problem = ""
        log.warning("%s", self._gap)
        self._tell()

    def _tell(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.changed)

    def _encoded(self, batch: list[Line]) -> Iterator[bytes]:
        """Yield each line; one that cannot be encoded must not end the thread, and with it the log."""
        for line in batch:
            try:
                yield line()
            except Exception:  # of whatever a request has brought; the log says what it was
                self._unwritten += 1
                log.exception("a line of %s cannot be encoded, it is lost", self.name)

    def _batch(self) -> list[tuple[Line, int]]:
        """Return the next lines; [] at the end."""
        batch: list[tuple[Line, int]] = []
        size = 0
        while (queued := self._lines.get()) is not None:
            batch.append(queued)
            size += queued[1]
            if len(batch) == AT_ONCE or size > AT_ONCE_BYTES or self._lines.empty():
                return batch
        if batch:
            self._lines.put(None)  # for the next call
        return batch


def _clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(moment))
