"""The listening socket of an HTTP server that accepts by itself, and taking it away for a while.

granian counts a TLS connection only after its handshake, so silent clients can use up all open files. Then
it tries to accept without end, and serves and closes nothing. While the door is shut, the number of granian's
socket names another one, to which no client can connect: accepting there finds none. Clients wait in the
queue of the real socket, of which ktui has a duplicate.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys
import tempfile
from pathlib import Path

from ktui.apiserver.http.open_files import file_limit

# Kept open, and closed when no file is left: to accept fails without one, although no client waits.
SPARE_FILES = 16


class Door:
    """`listener` duplicates the server's socket, whose number is `file`, from `hang` on.

    It is made before the server listens: all files that it needs are open then, as clients may use up the
    others before ktui looks. Linux only (`can_shut`): there an event queue watches what a number named
    when it was added.
    """

    def __init__(self) -> None:
        self.listener = socket.socket()  # keeps the place of the duplicate
        self.shut = False
        self.can_shut = sys.platform == "linux"
        self._file = -1
        # Listens where no client can connect, as its path is gone.
        self._decoy = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._decoy.setblocking(False)
        with tempfile.TemporaryDirectory(prefix="ktui-") as directory:
            self._decoy.bind(str(Path(directory) / "s"))
            self._decoy.listen(1)
        self._spares = [os.open(os.devnull, os.O_RDONLY) for _ in range(SPARE_FILES)]

    def hang(self, file: int) -> None:
        """Take the server's socket. Needs no further file; raises OSError if the server has closed it."""
        place = self.listener.fileno()
        os.dup2(file, place, inheritable=False)
        duplicate = socket.socket(fileno=place)  # asks for its family
        self.listener.detach()
        self.listener, self._file = duplicate, file

    def leave(self) -> None:
        """Open the door, and give the socket up: the duplicate is closed, its place is kept."""
        self.set_shut(False)
        self.shut, self._file = False, -1
        if self.listener.fileno() < 0:  # closed
            return
        os.dup2(self._decoy.fileno(), self.listener.fileno(), inheritable=False)

    def close(self) -> None:
        """Open the door, and close all files."""
        self.set_shut(False)
        self.listener.close()
        self._decoy.close()
        self._free_spares()

    def server_has_it(self) -> bool:
        """Return whether the server still has the socket: else a copy would listen, served by none."""
        named = self._decoy if self.shut else self.listener
        try:
            return os.fstat(named.fileno()).st_ino == os.fstat(self._file).st_ino
        except OSError:
            return False

    def set_shut(self, shut: bool) -> None:
        """Shut or open the door, for clients that the server accepts."""
        if shut == self.shut or not self.can_shut or not self.server_has_it():
            return
        named = self._decoy if shut else self.listener
        os.dup2(named.fileno(), self._file, inheritable=False)
        self.shut = shut
        if shut:
            self._free_spares()
            return
        with contextlib.suppress(OSError):
            self._spares = [os.open(os.devnull, os.O_RDONLY) for _ in range(SPARE_FILES)]
        self.wake()

    def wake(self) -> bool:
        """Connect once, as the server hears only of new clients; False if the queue has no place."""
        with contextlib.suppress(OSError), socket.socket(self.listener.family) as client:
            client.setblocking(False)
            client.connect_ex(self.listener.getsockname())
            return client.getpeername() is not None
        return False

    def next_file(self) -> int:
        """Return the number that the next file gets, all lower ones are in use; without one, the limit."""
        try:
            file = fcntl.fcntl(self.listener.fileno(), fcntl.F_DUPFD_CLOEXEC, 0)
        except OSError:
            return file_limit()
        os.close(file)
        return file

    def _free_spares(self) -> None:
        for file in self._spares:
            os.close(file)
        self._spares = []
