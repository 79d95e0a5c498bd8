"""TLS with client certificates, in front of a server that does not pass them to the application.

granian ends TLS itself, and an ASGI application never sees the peer's certificate. With `--client-ca-file`
this front ends TLS instead: it verifies a certificate if one is sent, and relays bytes to granian's own port
on the loopback address. It reads no HTTP: the application finds the user of a connection by the address that
granian sees.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ktui.apiserver.http import ASGIApp, Receive, Scope, Send
from ktui.apiserver.http.connections import Connections
from ktui.apiserver.http.health_reserve import PLACES, TOO_MANY, TOO_MANY_HEADERS, as_body, is_health_check
from ktui.apiserver.http.health_reserve import SECONDS as LATE_SECONDS
from ktui.apiserver.http.loopback import is_loopback
from ktui.apiserver.http.tls import TlsFiles
from ktui.kube.status import unauthorized
from ktui.kube.users import AUTHENTICATED, Requester

PIECE = 1 << 16
HANDSHAKE_SECONDS = 10.0
CREDENTIAL = "authentication.kubernetes.io/credential-id"
Address = tuple[str, int]
JSON = [(b"content-type", b"application/json")]
EXPIRED = as_body(unauthorized())
PLAIN = [(b"content-type", b"text/plain; charset=utf-8")]


class Peer(NamedTuple):
    """The client of a connection."""

    address: Address
    user: Requester | None  # None: it sent no certificate
    ends: float  # when the certificate does (Unix seconds)
    late: bool  # all connections were in use, and this one may only ask for the server's health


class TlsFront:
    """Listens for the server at `backend`, and passes client addresses and users to its application (`wrap`).

    `credential_ids`: users have their certificate's fingerprint (kube-apiserver 1.32 and later).
    """

    def __init__(self, tls: TlsFiles, client_ca: Path, *, credential_ids: bool = True) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(tls.cert, tls.key)
        self._context.load_verify_locations(client_ca)
        self._context.verify_mode = ssl.CERT_OPTIONAL
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._credential_ids = credential_ids
        self._peers: dict[Address, Peer] = {}
        self._backend: Address = ("127.0.0.1", 0)
        self._listener: asyncio.Server | None = None
        self._bound = Connections(1)
        self._late = 0
        self._connections: set[asyncio.Task[Any]] = set()

    async def start(self, host: str, port: int, backend: Address, connections: Connections) -> int:
        """Start listening; return the port. Raises OSError. `connections` bounds those with TLS."""
        self._backend, self._bound = backend, connections
        self._listener = await asyncio.start_server(
            self._serve, host, port, ssl=self._context, ssl_handshake_timeout=HANDSHAKE_SECONDS, backlog=4096
        )
        found: int = self._listener.sockets[0].getsockname()[1]
        return found

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """`app` with the real client of each connection; connections that bypass the front are refused."""

        async def fronted(scope: Scope, receive: Receive, send: Send) -> None:
            host, port = scope.get("client") or ("", 0)
            peer = self._peers.get((host, int(port)))
            if peer is None:
                await _refuse(send, 403, PLAIN, b"connect with TLS\n")
            elif peer.late and not is_health_check(scope["path"]):
                await _refuse(send, 429, TOO_MANY_HEADERS, TOO_MANY)
            elif peer.ends < time.time():
                await _refuse(send, 401, JSON, EXPIRED)
            else:
                await app({**scope, "client": peer.address, "user": peer.user}, receive, send)

        return fronted

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        late = len(self._connections) - self._late >= self._bound.most
        if late:
            host = writer.get_extra_info("peername")[0]
            self._bound.refuse(host)
            if self._late >= PLACES or not is_loopback(host.removeprefix("::ffff:")):
                writer.transport.abort()
                return
        self._connections.add(task)
        self._late += late
        try:
            with contextlib.suppress(OSError, TimeoutError):  # a connection that breaks off ends both sides
                async with asyncio.timeout(LATE_SECONDS if late else None):
                    await self._relay(reader, writer, late=late)
        finally:
            self._connections.discard(task)
            self._late -= late
            writer.close()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, late: bool) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(*self._backend)
        with self._known(inner_writer, writer, late=late):
            pumps = [
                asyncio.create_task(_pump(reader, inner_writer)),
                asyncio.create_task(_pump(inner_reader, writer)),
            ]
            try:
                done, _ = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in done:
                    pump.result()
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)

    @contextlib.contextmanager
    def _known(
        self, inner: asyncio.StreamWriter, outer: asyncio.StreamWriter, *, late: bool
    ) -> Iterator[None]:
        """Register the connection's user by the address that granian sees, until the connection is closed."""
        address = inner.get_extra_info("sockname")[:2]
        session: ssl.SSLObject = outer.get_extra_info("ssl_object")
        user = self._user(session)
        certificate = session.getpeercert() or {}
        ends = ssl.cert_time_to_seconds(str(certificate["notAfter"])) if certificate else math.inf
        self._peers[address] = Peer(outer.get_extra_info("peername")[:2], user, ends, late)
        try:
            yield
        finally:
            del self._peers[address]  # before another process can get its port
            inner.close()

    def _user(self, session: ssl.SSLObject) -> Requester | None:
        certificate = session.getpeercert()
        if not certificate:
            return None
        encoded = session.getpeercert(binary_form=True) or b""
        user = user_of(certificate)
        if user is None or not self._credential_ids:
            return user
        return user._replace(extra={CREDENTIAL: [f"X509SHA256={hashlib.sha256(encoded).hexdigest()}"]})


def user_of(certificate: Mapping[str, Any]) -> Requester | None:
    """Return the user: CN the name, each O a group (x509.CommonNameUserConversion); None without a CN."""
    subject: Sequence[Sequence[tuple[str, str]]] = certificate.get("subject", ())
    names = [pair for part in subject for pair in part]
    users = [value for name, value in names if name == "commonName"]
    if not users or not users[-1]:
        return None
    groups = [value for name, value in names if name == "organizationName"]
    return Requester(users[-1], tuple(dict.fromkeys([*groups, AUTHENTICATED])))


def check_authorities(client_ca: Path) -> None:
    """Raise ValueError if a file holds no certificates."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(client_ca)
    except OSError as error:  # includes ssl.SSLError
        why = error.strerror or "no certificates in PEM"
        raise ValueError(f"--client-ca-file {client_ca} cannot be read: {why}") from error


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE):
        writer.write(piece)
        await writer.drain()


async def _refuse(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
