"""The sockets of this process, found among its open files: granian does not report its connections."""

from __future__ import annotations

import os
import resource
import socket
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Files that are not connections of clients: etcd, logs, parsers, health checks, modules that are imported.
RESERVED_FILES = 512
MOST_FILES = 1 << 20  # more cost time where a program closes all possible ones
MOST_CONNECTIONS = 16_384
FRONT_FILES = 3  # of a connection with TLS in front: the client's, and both ends of the one to granian
_LISTING = Path("/dev/fd")


def raise_file_limit() -> int:
    """Raise the limit of open files to its hard limit; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    for wanted in (most, min(most, 10_240)):  # macOS has another limit, which it does not tell
        if soft != resource.RLIM_INFINITY and soft < wanted:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            except (OSError, ValueError):
                continue
            return wanted
    return file_limit()


def file_limit() -> int:
    """Return how many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(files: int, files_each: int = 1) -> int:
    """Return how many connections `files` open files allow, if each takes `files_each` of them."""
    reserved = min(RESERVED_FILES, files // 2)
    return max(1, min(MOST_CONNECTIONS, (files - reserved) // files_each))


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """A connection that was accepted: its file, the client's port, and when it was first seen."""

    file: int
    inode: int
    client_port: int
    since: float  # time.monotonic()


class ConnectionList:
    """The accepted connections of one listening port; `listener` is the file of its socket, -1 if unknown."""

    def __init__(self, port: int) -> None:
        self.listener = -1
        self._port = port
        self._known: dict[int, OpenConnection | int] = {}  # by file; of others the inode

    def look(self) -> list[OpenConnection]:
        """Return the open connections, oldest first. Takes about a microsecond for each open file."""
        now, found = time.monotonic(), dict[int, OpenConnection | int]()
        for file in _open_files():
            try:
                status = os.fstat(file)
            except OSError:  # closed meanwhile
                continue
            known = self._known.get(file)
            inode = known.inode if isinstance(known, OpenConnection) else known
            if known is None or inode != status.st_ino:
                known = status.st_ino
                if stat.S_ISSOCK(status.st_mode):
                    known = self._identify(file, status.st_ino, now)
            found[file] = known
        self._known = found
        connections = [one for one in found.values() if isinstance(one, OpenConnection)]
        return sorted(connections, key=lambda one: one.since)

    def _identify(self, file: int, inode: int, now: float) -> OpenConnection | int:
        """Return the connection, or the inode if it is another socket."""
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, file)
        try:
            address = borrowed.getsockname()
            if not isinstance(address, tuple) or address[1] != self._port:
                return inode
            if borrowed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                self.listener = file
                return inode
            return OpenConnection(file, inode, borrowed.getpeername()[1], now)
        except OSError:  # closed meanwhile, or not connected
            return inode
        finally:
            borrowed.detach()

    def close(self, connection: OpenConnection) -> bool:
        """Shut a connection down by its file, borrowed as none may be left; return whether it was open."""
        try:
            borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, connection.file)
        except OSError:
            return False
        try:
            if os.fstat(connection.file).st_ino != connection.inode:
                return False
            borrowed.shutdown(socket.SHUT_RDWR)
        except OSError:
            return False
        finally:
            borrowed.detach()
        return True


def _open_files() -> Iterable[int]:
    """Return the open files, or all possible ones when none is left to read the list."""
    try:
        return map(int, os.listdir(_LISTING))  # noqa: PTH208 - thousands of Path objects
    except OSError:
        return range(file_limit())
