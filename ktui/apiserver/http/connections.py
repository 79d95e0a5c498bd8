"""Bound the connections of clients: refuse those beyond the limit at once, and close silent ones.

granian takes connections as long as it has less than `most`, not counting TLS handshakes; then it leaves them
in the kernel's queue, where a client waits without a word. This guard looks at the queue, at the open
connections and at the files that are left. While all `most` are in use, or files are few, it shuts granian's
door and takes further connections from the queue itself: those of this machine may ask for the server's
health (`HealthReserve`), and others are reset.

A connection that has sent no request for SILENT_SECONDS is closed; while connections or files are scarce,
after SCARCE_SECONDS, the oldest first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
import socket
import time
from collections.abc import Awaitable, Iterator

from ktui.apiserver.http import ASGIApp, Receive, Scope, Send
from ktui.apiserver.http.door import Door
from ktui.apiserver.http.health_reserve import HealthReserve
from ktui.apiserver.http.loopback import is_loopback
from ktui.apiserver.http.open_files import ConnectionList, OpenConnection, file_limit

log = logging.getLogger(__name__)

SILENT_SECONDS = 30.0
SCARCE_SECONDS = 2.0
SCARCE_SHARE = 0.9  # of `most`
LOOK_SECONDS = 5.0  # between two looks at the open connections
LOOK_SCARCE_SECONDS = 0.25
MOST_MISSING = 40  # looks in a row that find no listening socket
QUEUE_SECONDS = 0.05  # between two looks at the queue
BURST = 64  # new files since the last look at the open connections, for another one
LEFT_FILES = 192  # that granian may not take: for etcd, logs, parsers, checks of health
TELL_SECONDS = 10.0  # between two lines of the log
BATCH = 64  # connections that are refused between two looks
BATCH_SECONDS = 0.01


class Connections:
    """Figures of a server's connections; `most` may be open at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.open = 0
        self.refused = 0
        self.silent = 0  # closed, because they sent no request
        self._told_at = float("-inf")
        self._told = 0

    def refuse(self, host: str) -> None:
        """Count a refused connection. The log gets a line of the first, and of others from time to time."""
        self.refused += 1
        now = time.monotonic()
        if now - self._told_at >= TELL_SECONDS:
            others = self.refused - self._told - 1
            more = f", and {others:,} others before it" if others else ""
            why = f"{self.open:,} are open, and few files are left (ulimit -n)"
            if self.open >= self.most:
                why = f"{self.most:,} are open, the most (--max-connections)"
            log.warning("connection from %s refused%s: %s", host, more, why)
            self._told_at, self._told = now, self.refused


class ConnectionGuard:
    """Guards the connections that granian accepts on `port`."""

    def __init__(self, connections: Connections, reserve: HealthReserve, *, may_shut: bool = True) -> None:
        """`may_shut`: the server waits for changes of its socket (granian), not for its state."""
        self._figures = connections
        self._reserve = reserve
        self._requests: dict[int, int] = {}  # by client's port: the number of looks before its last request
        self._looks = 0
        self._last_look = float("-inf")
        self._list: ConnectionList | None = None
        self._door: Door | None = None
        self._may_shut = may_shut
        self._files = file_limit()
        self._file_at_look = 0

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return `app`, which notes the connections that send requests.

        Only the port identifies a client: hosts may be written in several ways, and a connection in use must
        not be taken for a silent one.
        """

        def noted(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
            if (client := scope.get("client")) is not None:
                self._requests[int(client[1])] = self._looks
            return app(scope, receive, send)

        return noted

    def prepare(self) -> None:
        """Open the files that the guard needs, before granian listens: clients may use up all others."""
        self._door = Door()
        self._door.can_shut &= self._may_shut

    def release(self) -> None:
        """Close them, among them the copy of granian's listening socket, because granian has ended."""
        if self._door is not None:
            self._door.close()
            self._door = None

    async def run(self, port: int) -> None:
        """Guard the connections of `port`, where granian listens, and listens again after it has ended."""
        missing = 0
        while True:
            self._list = ConnectionList(port)
            await self._look()
            if self._door is not None and self._list.listener >= 0:
                missing = 0
                await self._guard(self._door, self._list.listener)
            elif (missing := missing + 1) == MOST_MISSING:
                raise RuntimeError(f"the listening socket of port {port} was not found among the open files")
            await asyncio.sleep(QUEUE_SECONDS)

    async def _guard(self, door: Door, file: int) -> None:
        """Guard until the server no longer has its socket, whose number is `file`."""
        try:
            door.hang(file)
        except OSError:  # closed meanwhile
            return
        try:
            waiting = select.poll()
            waiting.register(door.listener, select.POLLIN)
            left = 0  # looks in a row at which granian had left a client in the queue
            while door.server_has_it():
                queued = bool(waiting.poll(0))
                if self._is_due(queued) or (queued and door.shut):
                    await self._look()
                full = self._figures.open >= self._figures.most or self._files_short() > 0
                door.set_shut(full)
                if full and queued:
                    self._refuse_queued(door.listener, BATCH)
                left = left + 1 if queued and not full and door.can_shut else 0
                if left > 1 and not door.wake():  # no place in the queue
                    self._refuse_queued(door.listener, 1)
                await asyncio.sleep(BATCH_SECONDS if full and queued else QUEUE_SECONDS)
        finally:
            door.leave()

    def _is_due(self, queued: bool) -> bool:
        """Return whether to look at the open connections."""
        scarce = queued or self._figures.open >= self._figures.most * SCARCE_SHARE
        seconds = LOOK_SCARCE_SECONDS if scarce else LOOK_SECONDS
        burst = self._next_file() - self._file_at_look >= BURST
        return burst or time.monotonic() - self._last_look >= seconds

    def _files_short(self) -> int:
        """Return how many files too many are open."""
        return self._next_file() - (self._files - min(LEFT_FILES, self._files // 8))

    def _next_file(self) -> int:
        return 0 if self._door is None else self._door.next_file()

    async def _look(self) -> None:
        """Count the open connections, and close those without a request."""
        assert self._list is not None
        number = self._looks
        self._looks += 1  # a request from now on is newer than this look
        found = await asyncio.to_thread(self._list.look)
        ours = self._reserve.files
        found = [one for one in found if one.file not in ours]
        live = {one.client_port for one in found}
        self._requests = {
            port: look for port, look in self._requests.items() if look > number or port in live
        }
        closed = 0
        for one in self._silent(found):
            closed += self._list.close(one)
        self._figures.open = len(found)
        self._figures.silent += closed
        self._last_look = time.monotonic()
        self._file_at_look = self._next_file()
        if closed:
            log.info("closed %d connections that sent no request", closed)

    def _silent(self, found: list[OpenConnection]) -> Iterator[OpenConnection]:
        """Yield those to close: the old ones, and as many as are too many: of connections that are not new,
        of files whatever their age.
        """
        now, scarce = time.monotonic(), len(found) - int(self._figures.most * SCARCE_SHARE)
        short = self._files_short()
        needed = short + BURST if short > 0 else 0
        for one in found:
            if one.client_port in self._requests:
                continue
            age = now - one.since
            if age >= SILENT_SECONDS or (scarce > 0 and age >= SCARCE_SECONDS) or needed > 0:
                scarce -= 1
                needed -= 1
                yield one

    def _refuse_queued(self, listener: socket.socket, most: int) -> None:
        """Take the queued connections that granian leaves, while there is a place for a check of health."""
        for _ in range(most):
            if not self._reserve.has_place():
                return
            try:
                taken, address = listener.accept()
            except OSError:  # none is left, or no file is
                return
            self._figures.refuse(address[0])
            taken.setblocking(False)
            if is_loopback(address[0].removeprefix("::ffff:")):
                self._reserve.take(taken)
            else:
                reset(taken)


def reset(connection: socket.socket) -> None:
    """Close a connection so that its client is told at once."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
