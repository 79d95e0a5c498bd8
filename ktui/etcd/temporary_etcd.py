"""Temporary directories that are removed once the process that created them has ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "ktui-etcd-"
_LOCK = "lock"


class TemporaryEtcd:
    """A temporary directory with a lock that the processes using it hold.

    The kernel releases the lock when the last process that holds it ends, in whatever way. A directory whose
    lock is free is abandoned, and `sweep` removes it.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        unfinished = self.path / f"{_LOCK}.new"
        self.lock_fd = os.open(unfinished, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX)
        unfinished.rename(self.path / _LOCK)  # `sweep` looks for this name, which never exists unlocked

    def release(self) -> None:
        """Release the lock in this process; a process that inherited it keeps it."""
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()


def sweep() -> list[Path]:
    """Remove the directories that killed processes of this user left; return the removed ones."""
    removed = []
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if directory.is_symlink() or directory.stat().st_uid != os.getuid():
                continue
            if _abandoned(directory / _LOCK):
                shutil.rmtree(directory, ignore_errors=True)
                removed.append(directory)
    return removed


def locked(path: Path) -> bool:
    """Return True if another process holds the lock of an existing file."""
    return path.exists() and not _abandoned(path)


def _abandoned(lock: Path) -> bool:
    descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
