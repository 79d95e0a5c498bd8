"""gRPC channels to one etcd cluster: one for each endpoint, of which one is in use."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import grpc

from ktui.etcd.client_config import Endpoint, EtcdConfig, parse_endpoint
from ktui.etcd.connection import EtcdConnection
from ktui.etcd.errors import EtcdError, UnreachableError
from ktui.etcd.probe import probe

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
        """Return the connection in use."""
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
        """Close replaced connections without calls in flight."""
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
        return EtcdConnection(self._endpoints[number].text, self._channel(endpoint), number)

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
        try:
            ca, cert, key = (
                path.read_bytes() if path else None
                for path in (config.ca_file or _system_roots(), config.cert_file, config.key_file)
            )
        except OSError as error:
            raise EtcdError(f"cannot read {error.filename}: {error.strerror}.") from error
        return grpc.ssl_channel_credentials(root_certificates=ca, private_key=key, certificate_chain=cert)


def _system_roots() -> Path | None:
    """Return the file of this machine's CAs, which etcdctl uses without --cacert; gRPC has its own list."""
    file = ssl.get_default_verify_paths().cafile
    return Path(file) if file else None
