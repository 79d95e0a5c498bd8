"""A log file that is rotated by size, as upstream's log backend (lumberjack) does.

`audit.log` is renamed to `audit-2026-11-22T10-04-05.123.log`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
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
    """Appends to a file; a new file has mode 0600. All methods raise OSError."""

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
                self._cut_off(done - whole)
            self._size += whole
            raise PartlyWritten(error, data.count(b"\n", 0, whole)) from error
        self._size += done

    def close(self) -> None:
        os.close(self._file)

    def _cut_off(self, excess: int) -> None:
        """Remove the end of the file; what is no file (a FIFO, a device) keeps it."""
        with suppress(OSError):
            os.ftruncate(self._file, os.fstat(self._file).st_size - excess)

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
