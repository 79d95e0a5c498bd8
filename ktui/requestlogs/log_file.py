"""A log file that is rotated by size, as upstream's log backend (lumberjack) does.

`audit.log` is renamed to `audit-2026-11-22T10-04-05.123.log`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Rotation:
    """The limits of a log file; 0: no limit. Without `megabytes` the file is never rotated."""

    megabytes: int = 0
    backups: int = 0
    days: int = 0


class LogFile:
    """Appends to a file; a new file has mode 0600. All methods raise OSError."""

    def __init__(self, path: Path, rotation: Rotation = Rotation()) -> None:
        self._path = path
        self._rotation = rotation
        self._file = _opened(path)
        self._size = path.stat().st_size

    def write(self, data: bytes) -> None:
        """Append whole lines; rotate before if they would exceed the size limit."""
        most = self._rotation.megabytes << 20
        if most and self._size and self._size + len(data) > most:
            self._rotate()
        self._file.write(data)
        self._file.flush()
        self._size += len(data)

    def close(self) -> None:
        self._file.close()

    def _rotate(self) -> None:
        path = self._path
        self._file.close()
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
        path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
        self._file, self._size = _opened(path), 0
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


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
