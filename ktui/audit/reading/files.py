"""Log files: checked before anything is read; reading reports progress and can be stopped."""

from __future__ import annotations

import glob
import io
import os
import select
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ktui.audit.formats.log_record import Skips
from ktui.audit.reading.lake import in_lake, lake_lines
from ktui.audit.reading.record_framing import records
from ktui.audit.reading.streams import (
    BrokenStream,
    BufferedStream,
    ChunkStream,
    Leaf,
    UnpackLimit,
    leaves,
    may_be_log,
)

if TYPE_CHECKING:
    from ktui.audit.log_reader import LogReader

_HEARTBEAT = 0.2  # seconds
MOST_BLANK = 10_000_000  # lines in a row: a few kilobytes of an archive unpack to them
TOO_BLANK = f"more than {MOST_BLANK:,} blank lines in a row: not read further; what came before is counted"
# Standard input and the pipes that a shell opens for `<(…)`: their other end is open.
_OPEN_ALREADY = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
STANDARD_INPUT = "standard input"


class Log(NamedTuple):
    """A log file: its name, the argument that named it, and its size in bytes (0 if unknown).

    `descriptor` is that of standard input, -1 for files.
    """

    name: str
    argument: str
    size: int = 0
    descriptor: int = -1

    def open(self) -> io.FileIO:
        named = self.descriptor < 0
        return io.FileIO(self.name if named else self.descriptor, closefd=named)


class Stopped(Exception):
    """Raised by a progress callback: stop reading."""


Progressed = Callable[[str, int], None]
"""Called with a file's name and the bytes read so far from all files, before unpacking."""


class _Counting:
    """Reads a file and reports the bytes read, also while no bytes arrive."""

    def __init__(self, log: Log, file: io.FileIO, before: int, report: Progressed) -> None:
        self._log, self._file, self._progress = log, file, report
        self._waits = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        self.taken = before

    def read1(self, size: int = -1, /) -> bytes:
        while self._waits and not select.select([self._file], [], [], _HEARTBEAT)[0]:
            self.report()
        chunk = self._file.read(size) or b""
        self.taken += len(chunk)
        return chunk

    def report(self) -> int:
        self._progress(self._log.name, self.taken)
        return self.taken


@contextmanager
def open_logs(names: list[str], standard_input: int = 0) -> Iterator[list[Log]]:
    """Yield the logs for these arguments: `-` for standard input, files, folders, patterns.

    Raises OSError, with its filename, for a file that cannot be opened.
    """
    yield [log for name in names for log in _expand(name, standard_input)]


def read_logs(logs: list[Log], tally: LogReader, report: Progressed) -> None:
    """Feed every record, and note where a file breaks off. `report` stops the reading with an exception."""
    before = 0
    try:
        for log in logs:
            before = read_log(log, tally, before, report)
    finally:
        tally.finish()


def read_log(log: Log, tally: LogReader, before: int, report: Progressed) -> int:
    """Feed every record of one file; return `before` plus the bytes read of it."""
    if in_lake(log.name):
        leaf = Leaf(log.name, BufferedStream(ChunkStream(lake_lines(log.name))))
        _read_leaf(leaf, log.argument, tally, lambda: report(log.name, before))
        return before + log.size
    with log.open() as file:
        counting = _Counting(log, file, before, report)
        limit = UnpackLimit(lambda: counting.taken - before)
        opened = False
        try:
            for leaf in leaves(log.name, BufferedStream(counting), limit):
                opened = True
                _read_leaf(leaf, log.argument, tally, counting.report)
        except BrokenStream as broken:
            _problem(log, tally, opened, str(broken))
        else:
            if not opened:
                _problem(log, tally, opened, "an archive without a log in it")
    return counting.taken


def _read_leaf(leaf: Leaf, argument: str, tally: LogReader, report: Callable[[], object]) -> None:
    """Feed every record, and note where the log breaks off."""
    current = tally.open_file(leaf.name, argument)
    blank = 0
    try:
        for block in records(leaf.source):
            if isinstance(block, list) and not any(block):  # as in an archive of newlines
                blank += len(block)
                current.lines += len(block)
                current.skipped[Skips.BLANK.what] += len(block)
                if blank > MOST_BLANK:
                    raise BrokenStream(TOO_BLANK)
            else:
                blank = 0
                tally.feed(block)
            report()
    except BrokenStream as broken:
        current.problem = str(broken)


def _problem(log: Log, tally: LogReader, opened: bool, why: str) -> None:
    file = tally.files[-1] if opened else tally.open_file(log.name, log.argument)
    file.problem = file.problem or why


def total_size(logs: list[Log]) -> int:
    """Return the bytes of all files; 0 if a size is unknown."""
    return sum(log.size for log in logs) if all(log.size for log in logs) else 0


def _expand(name: str, standard_input: int) -> Iterator[Log]:
    if name == "-":
        yield Log(STANDARD_INPUT, STANDARD_INPUT, 0, standard_input)
    elif in_lake(name) and not name.startswith("-"):
        yield Log(name, name, Path(name).stat().st_size if Path(name).is_file() else 0)
    elif not os.path.lexists(name) and glob.has_magic(name):
        found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207  # a pattern may be absolute
        if not found:
            raise FileNotFoundError(2, "no file matches", name)
        for path in found:
            yield from _files(path, name)
    else:
        yield from _files(name, name)


def _files(name: str, argument: str) -> Iterator[Log]:
    path = Path(name)
    if not path.is_dir():
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            refuse_endless(name, found.st_mode)
            yield Log(name, argument)
            return
        path.open("rb").close()
        yield Log(name, argument, found.st_size)
        return
    inside = [file for file in _walk(name) if may_be_log(file)]
    audit_only = [file for file in inside if "/audit_logs/" in file]  # an OpenShift must-gather
    if not inside:
        raise FileNotFoundError(2, "no log file in this folder", name)
    for file in audit_only or inside:
        yield Log(file, argument, Path(file).stat().st_size)


def refuse_endless(name: str, mode: int) -> None:
    """Raise OSError for a device, which may never end, and for a FIFO, which may never begin."""
    if stat.S_ISREG(mode) or name.startswith(_OPEN_ALREADY):
        return
    kind = next((text for is_kind, text in _KINDS if is_kind(mode)), "not a file")
    where = f", a link to {Path(name).resolve()}" if Path(name).is_symlink() else ""
    hint = "; `ktui audit - < FILE` reads one to its end" if stat.S_ISFIFO(mode) else ""
    raise OSError(22, f"it is {kind}{where}, not a log{hint}", name)


_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def _walk(name: str) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(name, onerror=fail):
        folders.sort()
        folders[:] = [each for each in folders if not each.startswith(".")]
        for file in sorted(files):
            path = f"{folder.rstrip('/')}/{file}"
            if stat.S_ISREG(Path(path).lstat().st_mode):
                yield path
