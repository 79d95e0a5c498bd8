"""A server from its parts: etcd, storage, caches, HTTP, telemetry, and the demo's traffic beside it."""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ktui.apiserver.app import build_app
from ktui.apiserver.http.server import HttpServer, TlsFiles, split_listen
from ktui.apiserver.http.tls import ensure_certificate
from ktui.apiserver.services import Services
from ktui.cacher.registry import Registry
from ktui.cacher.settings import Settings
from ktui.cli.codec import StoredCodec
from ktui.cli.etcd_source import EtcdSource, endpoints_of
from ktui.cli.facts import Facts
from ktui.client.connection import Connection
from ktui.client.kubeconfig import write_kubeconfig
from ktui.client.running import announce, server_directory, withdraw
from ktui.etcd.client import EtcdClient
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.versions import Behaviour, behaviour_of, parse_gates
from ktui.storage.browser import Browser
from ktui.storage.census import FOREIGN_SECONDS, OWN_SECONDS, Census
from ktui.storage.compaction import follow_compactions
from ktui.storage.leases import Leases
from ktui.storage.store import Store
from ktui.telemetry.bus import Bus
from ktui.telemetry.recording import Recorder

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """What `ktui serve` was asked for, checked."""

    args: argparse.Namespace
    behaviour: Behaviour
    token: str | None
    warm: tuple[str, ...] | None  # None: all

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> ServeConfig:
        """ValueError says in one sentence what is wrong and what to do."""
        if args.etcd and args.snapshot:
            raise ValueError("--etcd and --snapshot exclude each other: choose one source")
        if args.etcd and args.demo:
            raise ValueError("--demo fills an embedded etcd only: leave out --etcd")
        if args.etcd:
            endpoints_of(args.etcd, os.environ)
        host, _ = split_listen(args.listen)
        if args.insecure_http and host not in LOOPBACK:
            raise ValueError(f"--insecure-http listens on a loopback address only, and {host} is none")
        behaviour = behaviour_of(args.kube_version, parse_gates(args.feature_gates))
        token = (
            None
            if args.insecure_http
            else args.token or os.environ.get("KTUI_TOKEN") or secrets.token_urlsafe(24)
        )
        return cls(args, behaviour, token, _warm(args.warm, owned=not args.etcd))


def _warm(text: str | None, owned: bool) -> tuple[str, ...] | None:
    """Resources to warm at start; None is all. An etcd that is not ours is warmed on demand."""
    words = (text or ("all" if owned else "none")).split(",")
    if words == ["all"]:
        return None
    if words == ["none"]:
        return ()
    known = {resource.id for resource in BUILTIN.all()} | {resource.resource for resource in BUILTIN.all()}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise ValueError(
            f"--warm {unknown[0]!r}: no such resource; write all, none, or names like pods,nodes"
        )
    return tuple(words)


class Composition:
    """Starts the parts in the order of the flow, and stops them in reverse."""

    def __init__(self, config: ServeConfig) -> None:
        self._config = config
        self._args = config.args
        self._bus = Bus()
        self._source = EtcdSource(config.args, self._bus)
        self._client: EtcdClient | None = None
        self._registry: Registry | None = None
        self._http: HttpServer | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._demo: asyncio.subprocess.Process | None = None
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        return self._http.url if self._http else ""

    async def start(self) -> None:
        """EtcdError, PortInUse or RecordingError say why it does not start."""
        self._listen_to_signals()
        if self._args.record:
            self._record(Path(self._args.record))
        self._client = client = await self._source.connect()
        settings = self._settings(client)
        self._registry = registry = self._make_registry(client, settings)
        browser = Browser(client, self._source.prefix, resource_at, gentle=not self._owned)
        services = self._services(client, settings, registry, browser)
        self._http = HttpServer(build_app(services), self._args.listen, self._tls())
        await self._http.start()
        registry.warm(self._to_warm())
        self._count_keys(browser)
        self._follow_compactions(client, registry)
        self._announce()
        if self._args.demo:
            self._demo = await self._start_demo()

    async def until_stopped(self) -> None:
        """Until a signal, or until the embedded etcd ends by itself (then its error)."""
        stopped = asyncio.create_task(self._stop.wait())
        waits: set[asyncio.Future[object]] = {stopped}  # type: ignore[arg-type]
        etcd = self._source.embedded
        if etcd is not None:
            waits.add(etcd.failed)  # type: ignore[arg-type]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if etcd is not None and etcd.failed.done():
            raise etcd.failed.result()

    async def stop(self) -> None:
        withdraw(os.getpid())
        if self._demo is not None and self._demo.returncode is None:
            self._demo.terminate()
            await self._demo.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._http is not None:
            await self._http.stop()
        if self._registry is not None:
            await self._registry.close()
        if self._client is not None:
            await self._client.close()
        await self._source.stop()

    # The parts.

    @property
    def _owned(self) -> bool:
        """Whether nobody else depends on this etcd."""
        return self._source.embedded is not None

    def _settings(self, client: EtcdClient) -> Settings:
        assumed = self._args.assume_watch_progress
        if assumed is None:
            assumed = client.supports_progress or self._owned
        return Settings(
            self._config.behaviour,
            progress=assumed,
            # Progress answers of an etcd below the versions that Kubernetes trusts may overtake events.
            confirm_progress=not client.supports_progress,
            watch_cache=self._args.watch_cache,
            check_consistency=self._owned,
        )

    def _make_registry(self, client: EtcdClient, settings: Settings) -> Registry:
        prefix, leases = self._source.prefix, Leases(client)

        def make_store(resource: Resource) -> Store:
            return Store(client, resource, prefix, leases=leases)

        return Registry(make_store, settings, self._bus, warmups=4 if self._owned else 1)

    def _services(
        self, client: EtcdClient, settings: Settings, registry: Registry, browser: Browser
    ) -> Services:
        return Services(
            registry=registry,
            settings=settings,
            bus=self._bus,
            facts=Facts(client, settings, self._source),
            etcd=browser,
            codec=StoredCodec(),
            token=self._config.token,
        )

    def _tls(self) -> TlsFiles | None:
        if self._args.insecure_http:
            return None
        host, _ = split_listen(self._args.listen)
        return ensure_certificate(server_directory(os.getpid()), host)

    def _to_warm(self) -> list[Resource]:
        wanted = self._config.warm
        return [
            resource
            for resource in BUILTIN.all()
            if wanted is None or resource.id in wanted or resource.resource in wanted
        ]

    # What goes on beside serving.

    def _announce(self) -> None:
        tls = self._tls()
        connection = Connection(self.url, self._config.token or "", tls.cert if tls else None)
        name = "demo" if self._args.demo else ""
        server = announce(connection, pid=os.getpid(), name=name, started=time.time())
        write_kubeconfig(connection, server.kubeconfig)

    def _count_keys(self, browser: Browser) -> None:
        every = OWN_SECONDS if self._owned else FOREIGN_SECONDS
        census = Census(browser, self._source.prefix, self._bus, every)
        self._tasks.append(asyncio.create_task(census.run(), name="census"))

    def _follow_compactions(self, client: EtcdClient, registry: Registry) -> None:
        following = follow_compactions(client, registry.compacted)
        self._tasks.append(asyncio.create_task(following, name="compactions"))

    def _record(self, path: Path) -> None:
        recorder = Recorder(path)
        subscription = self._bus.subscribe()

        async def record() -> None:
            try:
                async for batch in subscription.batches():
                    recorder.write(batch)
            finally:
                recorder.close()

        self._tasks.append(asyncio.create_task(record(), name="recorder"))

    async def _start_demo(self) -> asyncio.subprocess.Process:
        """The demo's clients are a process of their own: their work is not to be mixed with the server's."""
        args = self._args
        size = [f"--{name}={getattr(args, name)}" for name in ("pods", "nodes", "namespaces", "seed")]
        traffic = [] if args.quiet else ["--traffic"]
        words = ["seed", "--attach", self.url, "--silent", f"--parent={os.getpid()}", *size, *traffic]
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "ktui", *words, stdin=asyncio.subprocess.DEVNULL
        )

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)


def resource_at(prefix: str) -> str:
    """The resource whose keys lie under `prefix` (no leading slash): `pods/`, `cilium.io/ciliumnodes/`."""
    builtin = BUILTIN.by_prefix(prefix)
    if builtin is not None:
        return builtin.id
    group, _, plural = prefix.rstrip("/").partition("/")
    return f"{plural}.{group}" if "." in group and plural and "/" not in plural else ""
