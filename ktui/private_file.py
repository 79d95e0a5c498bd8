"""Files with names, addresses or requests of a cluster: readable by their owner only."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MODE = 0o600


def open_private(path: Path, flags: int) -> int:
    """Open `path` for writing, create it if missing, and return the descriptor.

    The file has mode 0600 from then on, even if it existed with a wider mode. A symbolic link
    is not followed: a user who may write to its directory could point it at another of your files.
    Raises OSError.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flags, MODE)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(error.errno, "it is a symbolic link, name the file itself", str(path)) from None
        raise
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, atomically."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE), "wb") as file:
        file.write(content)
    fresh.replace(path)
