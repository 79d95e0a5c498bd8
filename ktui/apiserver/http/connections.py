"""Bound the connections of clients: refuse those beyond the limit at once, and close silent ones.

granian takes connections as long as it has less than `most`; then it leaves them in the kernel's queue, where
a client waits without a word. This guard looks at the queue and at the open connections. While all `most` are
in use, it takes further ones from the queue itself: those of this machine may ask for the server's health
(`HealthReserve`), and others are reset.

A connection that has sent no request for SILENT_SECONDS is closed; while connections are scarce, after
SCARCE_SECONDS, the oldest first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import socket
import time
from collections.abc import Iterator

from ktui.apiserver.http.asgi import ASGIApp, Receive, Scope, Send
from ktui.apiserver.http.health_reserve import HealthReserve
from ktui.apiserver.http.loopback import is_loopback
from ktui.apiserver.http.open_files import ConnectionList, OpenConnection

log = logging.getLogger(__name__)

SILENT_SECONDS = 30.0
SCARCE_SECONDS = 2.0
SCARCE_SHARE = 0.9  # of `most`
LOOK_SECONDS = 5.0  # between two looks at the open connections
LOOK_SCARCE_SECONDS = 0.25
MOST_MISSING = 40  # looks in a row that find no listening socket
QUEUE_SECONDS = 0.25  # between two looks at the queue
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
            log.warning(
                "connection from %s refused%s: %s are open, the most (--max-connections)",
                host,
                more,
                f"{self.most:,}",
            )
            self._told_at, self._told = now, self.refused


class ConnectionGuard:
    """Guards the connections that granian accepts on `port`."""

    def __init__(self, connections: Connections, reserve: HealthReserve) -> None:
        self._figures = connections
        self._reserve = reserve
        self._requests: dict[int, int] = {}  # by client's port: the number of looks before its last request
        self._looks = 0
        self._last_look = float("-inf")
        self._list: ConnectionList | None = None
        self._listener: socket.socket | None = None

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return `app`, which notes the connections that send requests.

        Only the port identifies a client: hosts may be written in several ways, and a connection in use must
        not be taken for a silent one.
        """

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            if (client := scope.get("client")) is not None:
                self._requests[int(client[1])] = self._looks
            await app(scope, receive, send)

        return noted

    async def run(self, port: int) -> None:
        """Guard the connections of `port`, where granian listens, and listens again after it has ended."""
        missing = 0
        while True:
            self._list = ConnectionList(port)
            await self._look()
            if (file := self._list.listener) >= 0:
                missing = 0
                try:
                    listener = socket.socket(fileno=os.dup(file))
                except OSError:  # closed meanwhile
                    continue
                with listener:
                    self._listener = listener
                    await self._guard(listener, file)
            elif (missing := missing + 1) == MOST_MISSING:
                raise RuntimeError(f"the listening socket of port {port} was not found among the open files")
            await asyncio.sleep(QUEUE_SECONDS)

    async def _guard(self, listener: socket.socket, file: int) -> None:
        """Guard until `file` is no longer the socket of `listener`.

        A copy of a socket that granian has closed would go on listening, and nothing would serve its clients.
        """
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while _same_file(listener.fileno(), file):
            queued = bool(waiting.poll(0))
            scarce = self._figures.open >= self._figures.most * SCARCE_SHARE
            due = LOOK_SCARCE_SECONDS if scarce or queued else LOOK_SECONDS
            if time.monotonic() - self._last_look >= due:
                await self._look()
            while queued and listener.fileno() >= 0 and self._figures.open >= self._figures.most:
                self._refuse_queued()
                await asyncio.sleep(BATCH_SECONDS)
                await self._look()
                queued = bool(waiting.poll(0))
            await asyncio.sleep(QUEUE_SECONDS)

    def release(self) -> None:
        """Close the copy of granian's listening socket, because granian has ended."""
        if self._listener is not None:
            self._listener.close()

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
        if closed:
            log.info("closed %d connections that sent no request", closed)

    def _silent(self, found: list[OpenConnection]) -> Iterator[OpenConnection]:
        """Yield those to close: the old ones, and when connections are scarce as many as are too many."""
        now, scarce = time.monotonic(), len(found) - int(self._figures.most * SCARCE_SHARE)
        for one in found:
            if one.client_port in self._requests:
                continue
            age = now - one.since
            if age >= SILENT_SECONDS or (scarce > 0 and age >= SCARCE_SECONDS):
                scarce -= 1
                yield one

    def _refuse_queued(self) -> None:
        """Take the queued connections that granian leaves."""
        assert self._listener is not None
        for _ in range(BATCH):
            try:
                taken, address = self._listener.accept()
            except OSError:  # none is left, or no file is
                return
            self._figures.refuse(address[0])
            taken.setblocking(False)
            if is_loopback(address[0].removeprefix("::ffff:")):
                self._reserve.take(taken)
            else:
                reset(taken)


def _same_file(one: int, other: int) -> bool:
    try:
        return os.fstat(one).st_ino == os.fstat(other).st_ino
    except OSError:
        return False


def reset(connection: socket.socket) -> None:
    """Close a connection so that its client is told at once."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
