"""The listening socket: granian embedded in ktui's event loop."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any, Protocol

from granian.constants import Interfaces
from granian.server.embed import Server

from ktui.apiserver.http import ASGIApp
from ktui.apiserver.http.connections import ConnectionGuard, Connections
from ktui.apiserver.http.health_reserve import PLACES, HealthReserve
from ktui.apiserver.http.open_files import FRONT_FILES, file_limit, most_connections
from ktui.apiserver.http.tls import TlsFiles
from ktui.apiserver.http.tls_front import TlsFront
from ktui.supervision import Supervisor, stop

LOOPBACK = "127.0.0.1"
# Seconds for requests to finish.
STOP_SECONDS = 2.0
BACKLOG = 4096  # connections that wait in the kernel; Linux lowers it to net.core.somaxconn


class PortInUse(Exception):
    """Another process listens on the port, or the HTTP server has ended."""


class Startable(Protocol):
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


class HttpServer:
    """Serves `app` on `listen` ("HOST:PORT", port 0: any free one), over TLS if files are given.

    `service` is started before the server listens, and stopped before it ends. With a `front`, the front ends
    TLS, and granian listens behind it on the loopback address. `connections` bounds how many clients may have
    open, by default as many as the limit of open files allows.
    """

    def __init__(
        self,
        app: ASGIApp,
        listen: str,
        tls: TlsFiles | None = None,
        supervisor: Supervisor | None = None,
        front: TlsFront | None = None,
        connections: Connections | None = None,
        service: Startable | None = None,
    ) -> None:
        self.app = app
        self._service = service
        self._connections = connections or Connections(
            most_connections(file_limit(), 1 if front is None else FRONT_FILES)
        )
        self._reserve = HealthReserve(app, tls)
        self._guard = ConnectionGuard(self._connections, self._reserve, may_shut=front is None)
        self._guarding: asyncio.Task[None] | None = None
        self._supervisor = supervisor or Supervisor()
        self.host, self.port = split_listen(listen)
        self._tls = tls
        self._front = front
        self._behind = (LOOPBACK, 0) if front is not None else (self.host, self.port)
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._listening: asyncio.Future[None] | None = None
        self._stopping = False

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    async def start(self) -> None:
        """Start the service, then listen; raise PortInUse, or what the service raised."""
        with claim_port(*self._behind) as claim:
            self._behind = (self._behind[0], claim.getsockname()[1])
            if self._front is None:
                self.port = self._behind[1]
            if self._service is not None:
                await self._service.start()
            self._listening = asyncio.get_running_loop().create_future()
            self._serving = self._supervisor.start("the HTTP server", self._serve)
            try:
                await self._listening
                if self._front is not None:
                    self.port = await self._front.start(self.host, self.port, self._behind, self._connections)
                self._guarding = self._supervisor.start(
                    "the guard of connections", partial(self._guard.run, self.port)
                )
            except OSError as error:
                await stop(self._serving)
                raise PortInUse(f"cannot listen on {self.host}:{self.port}: {error.strerror}") from error
            except BaseException:
                await stop(self._serving)
                raise

    async def stop(self) -> None:
        """Stop the service, which ends its streams; then stop listening and close open connections."""
        if self._service is not None:
            await self._service.stop()
        await stop(self._guarding)
        await self._reserve.stop()
        if self._server is not None and self._serving is not None:
            self._stopping = True
            self._server.stop()
            await asyncio.wait({self._serving}, timeout=STOP_SECONDS)
            if not self._serving.done():
                asyncio.get_running_loop().set_exception_handler(_handle_late_end)
            await stop(self._serving)
            if self._front is not None:
                await self._front.stop()
            self._server = self._serving = None

    async def _serve(self) -> None:
        """Serve until `stop`; any other end is a failure."""
        try:
            tls = self._tls if self._front is None else None
            self._guard.prepare()
            app = self._guard.wrap(self.app)
            self._server = Server(
                app if self._front is None else self._front.wrap(app),
                address=self._behind[0],
                port=self._behind[1],
                interface=Interfaces.ASGINL,
                websockets=False,
                log_enabled=False,
                backlog=BACKLOG,
                # granian: the most connections it takes; then they wait in the backlog.
                backpressure=self._connections.most + (0 if self._front is None else PLACES),
                ssl_cert=tls.cert if tls else None,
                ssl_key=tls.key if tls else None,
            )
            self._server.on_startup(self._report_listening)
            await self._server.serve()
            if not self._stopping:
                raise PortInUse(f"the HTTP server on {self.host}:{self.port} has ended")
        except Exception as error:  # whatever granian raises, which `start` raises as well
            if self._listening is not None and not self._listening.done():
                self._listening.set_exception(error)
            raise
        finally:
            self._guard.release()

    def _report_listening(self) -> None:
        """Report that the server listens. granian calls this just before it creates its worker's task.

        The first step of that task listens. It runs after callbacks that are scheduled here, and before
        callbacks that those schedule.
        """
        loop, listening = asyncio.get_running_loop(), self._listening

        def report() -> None:
            if listening is not None and not listening.done():
                listening.set_result(None)

        loop.call_soon(loop.call_soon, report)


def _handle_late_end(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore the errors that granian raises when connections end after its task was cancelled."""
    if not isinstance(context.get("exception"), asyncio.InvalidStateError):
        loop.default_exception_handler(context)


def split_listen(listen: str) -> tuple[str, int]:
    """Split `127.0.0.1:8443` or `[::1]:0` into host and port. Raises ValueError."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise ValueError(f"{listen!r} is not HOST:PORT")
    return host.strip("[]"), int(port)


def claim_port(host: str, port: int) -> socket.socket:
    """Reserve a port without a listener: `port`, or any free one for 0.

    granian binds with SO_REUSEPORT and would silently share a used port, so this binds without it, and allows
    it only afterwards. While the socket is open, only granian gets the port, although nothing listens until
    the application has started.
    """
    claim = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        claim.bind((host, port))
    except OSError as error:
        claim.close()
        raise PortInUse(f"cannot listen on {host}:{port}: {error.strerror}") from error
    claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return claim
