"""Probe each endpoint of a cluster step by step, and keep a gRPC channel to each; one is in use."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from functools import partial
from pathlib import Path

import grpc

from ktui.etcd.client_config import Endpoint, EtcdConfig, parse_endpoint
from ktui.etcd.connection import EtcdConnection
from ktui.etcd.errors import EtcdError, UnreachableError
from ktui.etcd.small_reads import SmallReads

STEP_SECONDS = 4.0
ALERT_SECONDS = 2.0  # TLS 1.3: a server refuses a client's certificate only after the handshake
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"  # RFC 9113 §3.4: preface, SETTINGS

# OpenSSL's X509_V_ERR_…
_CERTIFICATE = {
    7: "the server's certificate is signed by another CA of the same name; check --cacert",
    9: "the server's certificate is not valid yet; check the clocks",
    10: "the server's certificate has expired; renew it, or check the clocks",
    18: "the server's certificate is self-signed; name it with --cacert if you trust it",
    19: "the server's certificate is signed by a CA that we do not know; check --cacert",
    20: "the server's certificate is signed by a CA that we do not know; check --cacert",
    62: "the server's certificate is for another host name; use one of its names or --server-name",
    64: "the server's certificate is for another address; use one of its names or --server-name",
}


async def probe(endpoint: Endpoint, config: EtcdConfig) -> UnreachableError | None:
    """Return the failing step with advice; None if all steps succeed, or for a Unix socket."""
    if endpoint.target.startswith("unix:"):
        return None
    return await asyncio.to_thread(_probe, endpoint, config)


class _Failed(Exception):
    """A step failed; the error has its name and a message."""

    def __init__(self, step: str, what: str) -> None:
        super().__init__(what)
        self.step = step


def _probe(endpoint: Endpoint, config: EtcdConfig) -> UnreachableError | None:
    host, _, port = endpoint.target.rpartition(":")
    host = host.strip("[]")
    try:
        with _connected(host, int(port)) as connection:
            if endpoint.tls:
                _shake_hands(connection, config, host, int(port))
            elif _speaks_tls(connection, host):
                raise _Failed("TLS", "it speaks TLS there; write https:// (and --cacert, --cert, --key)")
    except _Failed as failed:
        detail = str(failed.__cause__ or "")
        return UnreachableError(f"etcd {endpoint.text}: {failed} ({failed.step}).", detail, failed.step)
    return None


def _connected(host: str, port: int) -> socket.socket:
    try:
        return socket.create_connection((host, port), STEP_SECONDS)
    except socket.gaierror as error:
        raise _Failed("DNS", f"the host name {host!r} cannot be resolved; check the name") from error
    except TimeoutError as error:
        what = f"no answer within {STEP_SECONDS:.0f} s; does a firewall swallow it, is the address right?"
        raise _Failed("TCP", what) from error
    except ConnectionRefusedError as error:
        raise _Failed("TCP", "connection refused; is etcd running there, is it the client port?") from error
    except OSError as error:
        raise _Failed("TCP", f"no connection, {(error.strerror or str(error)).lower()}") from error


def _shake_hands(connection: socket.socket, config: EtcdConfig, host: str, port: int) -> None:
    try:
        with _context(config).wrap_socket(connection, server_hostname=config.server_name or host) as tls:
            tls.settimeout(ALERT_SECONDS)
            with contextlib.suppress(TimeoutError):  # no alert within this time: accepted
                tls.recv(1)
    except ssl.SSLCertVerificationError as error:
        what = _CERTIFICATE.get(error.verify_code, f"the server's certificate: {error.verify_message}")
        raise _Failed("TLS", what) from error
    except OSError as error:  # includes SSLError
        # Whether the connection ends with a FIN, a reset or silence depends on timing and means nothing.
        plain = _speaks_plainly(host, port)
        what = "it does not speak TLS there; write http://" if plain else _refusal(error, config)
        raise _Failed("TLS", what) from error


def _speaks_plainly(host: str, port: int) -> bool:
    """Return True if HTTP/2's preface, sent unencrypted, is answered by HTTP/2 or by an HTTP/1 error."""
    try:
        with socket.create_connection((host, port), STEP_SECONDS) as connection:
            connection.sendall(GREETING)
            frame = connection.recv(9)
    except OSError:
        return False
    return frame.startswith(b"HTTP/1") or frame[3:4] == b"\x04"  # frame type SETTINGS


def _refusal(error: OSError, config: EtcdConfig) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer to the handshake within {STEP_SECONDS:.0f} s"
    if not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLEOFError):
        return "it breaks the handshake off; is it etcd's client port?"
    reason = (error.reason or str(error)).lower().replace("_", " ")
    if "alert" in reason and ("certificate" in reason or "unknown ca" in reason):
        if config.cert_file is None:
            return "the server wants a client certificate; give one with --cert and --key"
        return f"the server does not accept our client certificate, {reason}; check --cert and --key"
    if "wrong version" in reason or "http request" in reason or "record layer" in reason:
        return "it does not speak TLS there"
    return f"the handshake failed, {reason}"


def _context(config: EtcdConfig) -> ssl.SSLContext:
    try:
        # Not `create_default_context`: from Python 3.13 on it refuses certificates without an Authority Key
        # Identifier, which etcdctl and gRPC accept.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if config.ca_file is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(config.ca_file)
        context.set_alpn_protocols(["h2"])
        if config.cert_file and config.key_file:
            context.load_cert_chain(config.cert_file, config.key_file)
    except (ssl.SSLError, OSError) as error:
        raise _Failed(
            "TLS", "--cacert, --cert or --key is not a usable PEM file, or they do not match"
        ) from error
    return context


def _speaks_tls(connection: socket.socket, host: str) -> bool:
    """Return True if a plain endpoint answers a TLS handshake, with any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(connection, server_hostname=host):
            return True
    except ssl.SSLError as error:
        return "alert" in str(error).lower()
    except OSError:
        return False


# kube-apiserver pings its etcd every 30 s and waits 10 s for the response.
_OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),  # otherwise only the first two are sent on an idle connection
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 3_000),
    ("grpc.min_reconnect_backoff_ms", 5_000),  # a connection not established within this time has failed
    ("grpc.use_local_subchannel_pool", 1),
]
UNUSED_SECONDS = 5.0  # after which an unused connection may be dead


class Endpoints:
    """Opens connections on first use; `rotate` switches to the next endpoint."""

    def __init__(self, config: EtcdConfig) -> None:
        if not config.endpoints:
            raise EtcdError("no etcd endpoint is given; name one with --etcd https://HOST:2379.")
        self._config = config
        self._endpoints = [parse_endpoint(text, config.tls_files) for text in config.endpoints]
        self._connections: dict[int, EtcdConnection] = {}
        self._leaving: set[EtcdConnection] = set()  # replaced connections, closed once their calls have ended
        self._active = 0
        self._detour: Endpoint | None = None  # for a fault: connect here instead
        self._watch_detour: Endpoint | None = None
        self._watching: EtcdConnection | None = None  # the connection to the watches' own detour

    def __len__(self) -> int:
        return len(self._endpoints)

    @property
    def active(self) -> str:
        """The endpoint in use, as configured."""
        return self._endpoints[self._active].text

    @property
    def all(self) -> list[str]:
        return [endpoint.text for endpoint in self._endpoints]

    async def probe(self) -> list[UnreachableError | None]:
        """The error of each endpoint that a connection without a request can show, None for no error."""
        return await asyncio.gather(*(probe(endpoint, self._config) for endpoint in self._endpoints))

    def connection(self) -> EtcdConnection:
        connection = self._connections.get(self._active)
        if connection is None:
            connection = self._connections[self._active] = self._open(self._active)
        return connection

    def watch_connection(self) -> EtcdConnection:
        """Return the connection for a watch: the one in use, unless watches have their own detour."""
        if self._watch_detour is None:
            return self.connection()
        if self._watching is None or self._watching.lost:
            self._watching = self._to(self._watch_detour, self._active)
            self._leaving.add(self._watching)  # closed once its watches have ended
        return self._watching

    def reroute(self, to: str = "", watches: str = "") -> None:
        """Connect to `to` from now on whatever the endpoint, and to `watches` for watches; "": as configured.

        Used for faults that a proxy injects. Watches resume over the new route; other calls in flight finish
        over the old one.
        """
        self._detour = parse_endpoint(to) if to else None
        self._watch_detour, self._watching = parse_endpoint(watches) if watches else None, None
        for connection in (*self._connections.values(), *self._leaving):
            connection.move_watches()
        for connection in list(self._connections.values()):
            self._retire(connection)

    def open(self) -> list[EtcdConnection]:
        """Return the connection in use, and those with calls or watches in flight."""
        current = self.connection()
        others = {*self._connections.values(), *self._leaving} - {current}
        return [current, *(connection for connection in others if connection.in_use)]

    def rotate(self, failed: EtcdConnection) -> None:
        """Use the next endpoint, unless `failed` is no longer in use."""
        if self.connection() is not failed or len(self) == 1:
            return
        self._active = (self._active + 1) % len(self)
        kept = self._connections.get(self._active)
        # A connection that was unused for a while may be dead, which only its next call would show.
        if kept is not None and kept.silent_seconds > UNUSED_SECONDS:
            self._retire(kept)

    def fresh(self) -> list[EtcdConnection]:
        """Return a new connection to each endpoint, the next one first: to pass to `replace`, or to close."""
        return [self._open((self._active + 1 + n) % len(self)) for n in range(len(self))]

    def replace(self, lost: EtcdConnection, by: EtcdConnection) -> None:
        """Use `by` instead of `lost` from now on."""
        self._retire(lost)
        if self._connections.get(by.number) is not by:
            self._retire(self._connections.get(by.number))
            self._connections[by.number] = by
        self._active = by.number

    async def tidy(self) -> None:
        for connection in [one for one in self._leaving if not one.in_use]:
            self._leaving.discard(connection)
            if connection is self._watching:
                self._watching = None
            await connection.close()

    async def close(self) -> None:
        connections = [*self._connections.values(), *self._leaving]
        self._connections.clear()
        self._leaving.clear()
        for connection in connections:
            await connection.close()

    def _retire(self, connection: EtcdConnection | None) -> None:
        if connection is not None and self._connections.get(connection.number) is connection:
            self._leaving.add(self._connections.pop(connection.number))

    def _open(self, number: int) -> EtcdConnection:
        return self._to(self._detour or self._endpoints[number], number)

    def _to(self, endpoint: Endpoint, number: int) -> EtcdConnection:
        small = SmallReads(endpoint, partial(_context, self._config), self._config.server_name)
        return EtcdConnection(self._endpoints[number].text, self._channel(endpoint), number, small)

    def _channel(self, endpoint: Endpoint) -> grpc.aio.Channel:
        options: list[tuple[str, int | str]] = [*_OPTIONS]
        if endpoint.loopback:
            options.append(("grpc.enable_http_proxy", 0))
        if not endpoint.tls:
            return grpc.aio.insecure_channel(endpoint.target, options=options)
        if self._config.server_name:
            options.append(("grpc.ssl_target_name_override", self._config.server_name))
        return grpc.aio.secure_channel(endpoint.target, self._credentials(), options=options)

    def _credentials(self) -> grpc.ChannelCredentials:
        config = self._config
        if (config.cert_file is None) != (config.key_file is None):
            raise EtcdError("a client certificate needs both --cert and --key.")
        # This machine's CAs, as etcdctl uses them without --cacert; gRPC has its own list.
        roots = ssl.get_default_verify_paths().cafile
        files = (config.ca_file or (Path(roots) if roots else None), config.cert_file, config.key_file)
        try:
            ca, cert, key = (path.read_bytes() if path else None for path in files)
        except OSError as error:
            raise EtcdError(f"cannot read {error.filename}: {error.strerror}.") from error
        return grpc.ssl_channel_credentials(root_certificates=ca, private_key=key, certificate_chain=cert)
