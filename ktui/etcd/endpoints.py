"""gRPC channels to one etcd cluster: one for each endpoint, one of them in use."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import grpc

from ktui.etcd.config import Endpoint, EtcdConfig, parse_endpoint
from ktui.etcd.errors import EtcdError, UnreachableError
from ktui.etcd.probe import probe

# kube-apiserver pings its etcd every 30 s and waits 10 s for the answer.
_OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 3_000),
    ("grpc.min_reconnect_backoff_ms", 5_000),  # a connection that is not made by then has failed
    ("grpc.use_local_subchannel_pool", 1),
]


class Endpoints:
    """Opens channels when they are first used; `rotate` moves on to the next endpoint."""

    def __init__(self, config: EtcdConfig) -> None:
        if not config.endpoints:
            raise EtcdError("no etcd endpoint is given; name one with --etcd https://HOST:2379.")
        self._config = config
        self._endpoints = [parse_endpoint(text, config.tls_files) for text in config.endpoints]
        self._channels: dict[int, grpc.aio.Channel] = {}
        self._active = 0

    def __len__(self) -> int:
        return len(self._endpoints)

    @property
    def active(self) -> str:
        """The endpoint in use, as the user wrote it."""
        return self._endpoints[self._active].text

    @property
    def all(self) -> list[str]:
        return [endpoint.text for endpoint in self._endpoints]

    async def probe(self) -> list[UnreachableError | None]:
        """What is wrong with each endpoint, as far as a connection without a request can tell."""
        return await asyncio.gather(*(probe(endpoint, self._config) for endpoint in self._endpoints))

    def channel(self) -> grpc.aio.Channel:
        channel = self._channels.get(self._active)
        if channel is None:
            channel = self._channels[self._active] = self._open(self._endpoints[self._active])
        return channel

    def rotate(self, failed: str) -> None:
        """Use the next endpoint, unless somebody has left `failed` already."""
        if self.active == failed:
            self._active = (self._active + 1) % len(self._endpoints)

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()
        self._channels.clear()

    def _open(self, endpoint: Endpoint) -> grpc.aio.Channel:
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
    """What this machine trusts, as etcdctl does without --cacert; gRPC would take a list of its own."""
    file = ssl.get_default_verify_paths().cafile
    return Path(file) if file else None
