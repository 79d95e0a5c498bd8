"""Log files: opened before anything is read, and read with progress and a way to stop."""

from __future__ import annotations

import io
import select
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import fstat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ktui.audit.log_lines import BrokenStream, blocks, unzipped

if TYPE_CHECKING:
    from ktui.audit.tally import Tally

_HEARTBEAT = 0.2  # seconds


class Log(NamedTuple):
    """An open file; `size` in bytes on disk, 0 if unknown."""

    name: str
    stream: io.FileIO
    size: int


class Stopped(Exception):
    """Raised by a progress callback: stop reading."""


Progressed = Callable[[str, int], None]
"""Called with a file's name and the bytes read so far, of all files, as they lie on the disk."""


class _Counting(io.RawIOBase):
    """A raw stream that counts the bytes read, and reports while it waits."""

    def __init__(self, log: Log, before: int, report: Progressed) -> None:
        self._log, self._progress = log, report
        self._waits = stat.S_ISFIFO(fstat(log.stream.fileno()).st_mode)
        self.taken = before

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        while self._waits and not select.select([self._log.stream], [], [], _HEARTBEAT)[0]:
            self.tell()
        size = self._log.stream.readinto(buffer)
        self.taken += size or 0
        return size

    def tell(self) -> int:
        self._progress(self._log.name, self.taken)
        return self.taken


@contextmanager
def open_logs(names: list[str], standard_input: int = 0) -> Iterator[list[Log]]:
    """The files, `-` for standard input; OSError (with its filename) for one that cannot be opened."""
    with ExitStack() as stack:
        yield [_open(name, stack, standard_input) for name in names]


def read_logs(logs: list[Log], tally: Tally, report: Progressed) -> None:
    """Count every line; a stream that breaks off is recorded as its file's problem.

    `report` stops the reading by raising Stopped.
    """
    before = 0
    for log in logs:
        file = tally.open_file(log.name)
        counting = _Counting(log, before, report)
        try:
            for block in blocks(unzipped(io.BufferedReader(counting, 1 << 16))):
                tally.feed(block)
                counting.tell()
        except BrokenStream as broken:
            file.problem = str(broken)
        before = counting.taken


def total_size(logs: list[Log]) -> int:
    """Bytes of all files, 0 if that of one is unknown."""
    return sum(log.size for log in logs) if all(log.size for log in logs) else 0


def _open(name: str, stack: ExitStack, standard_input: int) -> Log:
    if name == "-":
        return Log("standard input", io.FileIO(standard_input, closefd=False), 0)
    path = Path(name)
    stream = stack.enter_context(io.FileIO(path))
    return Log(name, stream, path.stat().st_size if path.is_file() else 0)
