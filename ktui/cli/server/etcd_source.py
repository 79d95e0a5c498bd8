"""The etcd of a server: a cluster's, a restored snapshot, or an embedded one."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ktui.cli.logs import log_of
from ktui.cli.output import warn
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig, config_from
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import UnreachableError
from ktui.storage.prefix import DEFAULT, check_readable, find_prefix, normal
from ktui.supervision import Supervisor
from ktui.telemetry.bus import Bus

log = log_of(__name__)

ENVIRONMENT = "env"  # `--etcd env`, or `--etcd` alone: endpoints from ETCDCTL_ENDPOINTS
_ACCOUNT = ("ETCDCTL_USER", "ETCDCTL_PASSWORD")

RETRY_FOR_SECONDS = 30.0  # kube-apiserver's client waits 20 s for its first connection
RETRY_EVERY_SECONDS = 1.0


class EtcdSource:
    """Call `connect` first. `prefix` is that of Kubernetes' keys; `warnings` are for the dashboard."""

    def __init__(self, args: argparse.Namespace, bus: Bus, supervisor: Supervisor) -> None:
        self._args = args
        self._bus = bus
        self._supervisor = supervisor
        self.embedded: EmbeddedEtcd | None = None
        self.changed: Callable[[], None] = lambda: None  # called when etcd ended or runs again
        self.warnings: list[str] = []
        self.prefix = DEFAULT

    async def connect(self, stopping: asyncio.Event) -> EtcdClient:
        """Start an embedded etcd if needed, and connect. Raises EtcdError.

        A cluster's etcd that accepts connections but does not answer (it is starting, has no leader, or is
        behind a proxy) is tried again for `RETRY_FOR_SECONDS`, until `stopping` is set. A wrong address,
        a refused connection and a failed handshake are errors at once. For a dashboard, where a user is
        waiting, there are no retries.
        """
        config, warned = await self._config(), False
        give_up = time.monotonic() + (RETRY_FOR_SECONDS if self._args.etcd and not self._args.parent else 0)
        while True:
            try:
                return await self._connected(config)
            except UnreachableError as error:
                if error.step != "etcd" or time.monotonic() > give_up or stopping.is_set():
                    raise
                waiting = f"{error} Trying again for {RETRY_FOR_SECONDS:.0f} s."
                if not warned:
                    warn(waiting)
                warned = True
                log.warning("%s", waiting)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RETRY_EVERY_SECONDS):
                        await stopping.wait()

    async def _connected(self, config: EtcdConfig) -> EtcdClient:
        client = await EtcdClient.connect(config, self._bus, self._supervisor)
        try:
            self.prefix = await self._prefix(client)
        except BaseException:
            await client.close()
            raise
        for warning in self.warnings:
            warn(f"warning: {warning}")
            log.warning("%s", warning)
        return client

    def _report(self, sentence: str) -> None:
        warn(sentence)
        self.changed()

    async def stop(self) -> None:
        if self.embedded is not None:
            await self.embedded.stop()

    @property
    def kind(self) -> str:
        """The value of `ServerInfo.etcd_kind`."""
        return "external" if self._args.etcd else "snapshot" if self._args.snapshot else "embedded"

    @property
    def name(self) -> str:
        """The name for the dashboard's header: the snapshot's file, the first endpoint, `demo`, …"""
        args = self._args
        if args.snapshot:
            return Path(args.snapshot).name
        if args.etcd:
            return endpoints_of(args.etcd, os.environ).split(",")[0].strip()
        if args.demo:
            return "demo"
        return Path(args.data_dir).name if args.data_dir else "empty"

    async def _config(self) -> EtcdConfig:
        args = self._args
        if args.etcd:
            return config_from(
                os.environ, endpoints=endpoints_of(args.etcd, os.environ), ca_file=args.cacert or "",
                cert_file=args.cert or "", key_file=args.key or "", server_name=args.server_name or "",
                user=args.user or "", read_only=not args.allow_writes,
            )  # fmt: skip
        folder, binary, snapshot = map(_path, (args.data_dir, args.etcd_binary, args.snapshot))
        self.embedded = await EmbeddedEtcd.start(
            data_dir=folder, binary=binary, snapshot=snapshot, supervisor=self._supervisor
        )
        self.warnings += self.embedded.warnings
        self.embedded.on_problem = self._report
        endpoint = self.embedded.endpoint
        if not args.snapshot:
            return EtcdConfig(endpoints=(endpoint,), read_only=False)
        # A snapshot contains etcd's users and passwords, but the cluster's certificates are not needed.
        account = {name: value for name, value in os.environ.items() if name in _ACCOUNT}
        return config_from(account, endpoints=endpoint, user=args.user or "", read_only=not args.allow_writes)

    async def _prefix(self, client: EtcdClient) -> str:
        args = self._args
        prefix: str | None = DEFAULT
        if args.etcd_prefix:
            prefix = normal(args.etcd_prefix)
        elif self.kind == "embedded":
            return DEFAULT
        elif (prefix := await find_prefix(client)) is None:
            self.warnings.append(
                "no Kubernetes object is found in this etcd; the etcd screen shows its raw keys"
            )
        elif prefix != DEFAULT:
            warn(f"Kubernetes keeps its keys under {prefix} in this etcd")
        await check_readable(client, prefix or DEFAULT)
        return prefix or DEFAULT


def endpoints_of(etcd: str, environ: Mapping[str, str]) -> str:
    """Return the endpoints for `--etcd`. Raises ValueError if ETCDCTL_ENDPOINTS is needed but not set."""
    if etcd != ENVIRONMENT:
        return etcd
    endpoints = environ.get("ETCDCTL_ENDPOINTS", "")
    if not endpoints.strip(", "):
        raise ValueError("--etcd takes the endpoints from ETCDCTL_ENDPOINTS, which is not set")
    return endpoints


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
