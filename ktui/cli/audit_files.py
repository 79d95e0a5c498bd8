"""The log files of `ktui audit`: opened before anything is read, then read with a progress bar."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ktui.audit.blocks import BrokenStream, blocks, unzipped

if TYPE_CHECKING:
    from rich.progress import Progress

    from ktui.audit.tally import Tally


class Log(NamedTuple):
    """An open file; `size` in bytes as it lies on the disk, 0 where nobody knows."""

    name: str
    stream: io.FileIO
    size: int


class _Counting(io.RawIOBase):
    """A raw stream that knows how much was read of it: of a gzipped file what was read, not unpacked."""

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        size = self._raw.readinto(buffer)
        self.taken += size or 0
        return size


@contextmanager
def open_all(names: list[str]) -> Iterator[list[Log]]:
    """The files, `-` for standard input; OSError (with its filename) for one that cannot be opened."""
    with ExitStack() as stack:
        yield [_open(name, stack) for name in names]


def read_all(logs: list[Log], tally: Tally) -> None:
    """Feed every line; a stream that breaks off becomes its file's problem."""
    total = sum(log.size for log in logs) if all(log.size for log in logs) else None
    with _progress() as bar:
        task = bar.add_task("reading", total=total)
        before = 0
        for log in logs:
            counting = _Counting(log.stream)
            file = tally.open_file(log.name)
            bar.update(task, description=_label(log.name))
            try:
                for block in blocks(unzipped(io.BufferedReader(counting, 1 << 16))):
                    tally.feed(block)
                    bar.update(task, completed=before + counting.taken)
            except BrokenStream as broken:
                file.problem = str(broken)
            before += counting.taken


def _open(name: str, stack: ExitStack) -> Log:
    if name == "-":
        return Log("standard input", io.FileIO(sys.stdin.fileno(), closefd=False), 0)
    path = Path(name)
    stream = stack.enter_context(io.FileIO(path))
    return Log(name, stream, path.stat().st_size if path.is_file() else 0)


def _label(name: str) -> str:
    from rich.markup import escape

    from ktui.cli.explain_text import printable

    return escape(printable(name)[-40:])


def _progress() -> Progress:
    """On standard error, and only where somebody watches it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
