"""A log file that a thread writes: a bounded queue of lines, and rotation by size.

Upstream's log backend and its rotation (lumberjack): `audit.log` becomes
`audit-2026-11-22T10-04-05.123.log`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

log = logging.getLogger(__name__)

QUEUED = 10_000  # lines
AT_ONCE = 400  # lines written together
STDOUT = "-"
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Rotation:
    """0 turns a limit off; without `megabytes` the file is never rotated."""

    megabytes: int = 0
    backups: int = 0
    days: int = 0


class LogFile:
    """`put` never waits. `room` waits while the queue is full if `blocking`; else lines are dropped.

    OSError if the file cannot be opened.
    """

    def __init__(
        self, path: str, rotation: Rotation = Rotation(), *, blocking: bool = True, queued: int = QUEUED
    ) -> None:
        self.dropped = 0
        self._path = None if path == STDOUT else Path(path).expanduser()
        self._rotation = rotation
        self._blocking = blocking
        self._most = queued
        self._lines: queue.SimpleQueue[Callable[[], bytes] | None] = queue.SimpleQueue()
        self._drained = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._file: BinaryIO = sys.stdout.buffer if self._path is None else _opened(self._path)
        self._size = 0 if self._path is None else self._path.stat().st_size
        self._thread = threading.Thread(target=self._work, name="log writer", daemon=True)
        self._waited_for = False
        self._failed = False

    def start(self) -> None:
        """Call it on the event loop of the requests."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Write what is queued, and close the file."""
        self._lines.put(None)
        await asyncio.to_thread(self._thread.join)
        if self.dropped:
            log.warning("%d lines of %s were dropped: its disk is too slow", self.dropped, self._name)

    def put(self, line: Callable[[], bytes]) -> None:
        """Queue a line, which the thread encodes."""
        if not self._blocking and self._full:
            self.dropped += 1
            return
        self._lines.put(line)

    async def room(self) -> None:
        """Wait until the queue has room."""
        while self._blocking and self._full and self._thread.is_alive():
            self._drained.clear()
            self._waited_for = True
            if self._full:  # else the thread may not have seen that it is waited for
                await self._drained.wait()

    @property
    def _full(self) -> bool:
        return self._lines.qsize() >= self._most

    @property
    def _name(self) -> str:
        return "the log on stdout" if self._path is None else str(self._path)

    # In the thread.

    def _work(self) -> None:
        while (batch := self._batch()) is not None:
            try:
                self._write(b"".join(line() for line in batch))
                self._failed = False
            except OSError as error:
                if not self._failed:  # each line of a full disk would be one more line here
                    log.error("%s cannot be written, its lines are lost: %s", self._name, error.strerror)
                self._failed = True
            self._report()
        if self._path is not None:
            self._file.close()

    def _batch(self) -> list[Callable[[], bytes]] | None:
        """The next lines; None at the end, after the last of them."""
        line = self._lines.get()
        if line is None:
            return None
        batch = [line]
        while len(batch) < AT_ONCE and not self._lines.empty():
            line = self._lines.get()
            if line is None:
                self._lines.put(None)
                break
            batch.append(line)
        return batch

    def _write(self, data: bytes) -> None:
        if self._path is not None and self._is_full(len(data)):
            self._rotate(self._path)
        self._file.write(data)
        self._file.flush()
        self._size += len(data)

    def _report(self) -> None:
        """The queue is shorter: requests go on."""
        if self._waited_for and self._loop is not None:
            self._waited_for = False
            self._loop.call_soon_threadsafe(self._drained.set)

    def _is_full(self, more: int) -> bool:
        most = self._rotation.megabytes << 20
        return bool(most) and self._size > 0 and self._size + more > most

    def _rotate(self, path: Path) -> None:
        self._file.close()
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
        path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
        self._file, self._size = _opened(path), 0
        for old in self._outdated(path):
            old.unlink(missing_ok=True)

    def _outdated(self, path: Path) -> Iterator[Path]:
        """Rotated files beyond the limits."""
        stamp = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}"
        named = re.compile(f"{re.escape(path.stem)}-{stamp}{re.escape(path.suffix)}")
        old = sorted(file for file in path.parent.iterdir() if named.fullmatch(file.name))
        limits = self._rotation
        kept = old[-limits.backups :] if limits.backups else old
        oldest = time.time() - limits.days * _DAY if limits.days else 0.0
        return (file for file in old if file not in kept or file.stat().st_mtime < oldest)


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
