"""Compose a server: etcd, storage, caches, HTTP, telemetry, and the demo's traffic."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ktui.apiserver.app import Application
from ktui.apiserver.http.connections import Connections
from ktui.apiserver.http.listener import HttpServer, split_listen
from ktui.apiserver.http.tls import TlsFiles, lend_certificate, load_key
from ktui.apiserver.http.tls_front import TlsFront
from ktui.apiserver.server import ServerFacts, Services
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cli.logs import log_of
from ktui.cli.output import warn
from ktui.cli.server.demo import Demo
from ktui.cli.server.etcd_source import EtcdSource
from ktui.cli.server.facts import Facts, RequestLogFiles, ServerRecording, TelemetryLog
from ktui.cli.server.fault_injector import FaultInjector
from ktui.cli.server.request_chain import SYNC_SECONDS, RequestChain, ServerFlow, make_chain, make_controllers
from ktui.cli.server.runtime import tidy_when_quiet
from ktui.cli.server.serve_config import ServeConfig
from ktui.client.connection import ServerConnection
from ktui.client.running import announce, certificate_directory, server_directory, withdraw, write_kubeconfig
from ktui.contract.events import TaskFailures
from ktui.etcd.client import EtcdClient
from ktui.etcd.connection_liveness import poll_status
from ktui.kube.resources import BUILTIN, Resource, ResourceTable
from ktui.kube.routing.cache_state import etcd_supports_progress
from ktui.storage.browser import EtcdBrowser
from ktui.storage.census import FOREIGN_SECONDS, OWN_SECONDS, Census
from ktui.storage.compaction import follow_compactions
from ktui.storage.store import Store
from ktui.storage.writer import Leases
from ktui.supervision import Supervisor, Work, stop
from ktui.telemetry.bus import Bus
from ktui.wire.codec import codec_for
from ktui.wire.stored_codec import StoredCodec, prepare
from ktui.writes.bootstrap import create_cluster_objects
from ktui.writes.handlers import WRITES
from ktui.writes.server_controller import ServerController

log = log_of(__name__)

# After a restart, a cache that is being filled answers 429, and clients list again. kube-apiserver's readyz
# keeps them away until its hooks have run; here small caches are filled before the port is open.
FILLED_WITHIN_SECONDS = 1.0


class Composition:
    """Starts the parts in the order of the data flow, and stops them in reverse."""

    def __init__(self, config: ServeConfig) -> None:
        self._config = config
        self._args = config.args
        self._bus = Bus()
        self._demo: Demo | None = None
        self._faults: FaultInjector | None = None
        self._supervisor = Supervisor(self._publish_failures)
        self._bus.add_snapshot(lambda: [found] if (found := self._task_failures()).failures else [])
        self._source = EtcdSource(config.args, self._bus, self._supervisor)
        self._source.changed = self._publish_info
        self._tasks: list[asyncio.Task[None]] = []
        self._recording: ServerRecording | None = None
        self._client: EtcdClient | None = None
        self._registry: Registry | None = None
        self._http: HttpServer | None = None
        self._chain: RequestChain | None = None
        self._request_logs: RequestLogFiles | None = None
        self._flow: ServerFlow | None = None
        self._facts: ServerFacts | None = None
        self._census: Census | None = None
        self._codec = StoredCodec()
        self._controllers: list[ServerController] = []
        self._connections = Connections(config.most_connections)
        self._stop = asyncio.Event()

    @property
    def url(self) -> str:
        return self._http.url if self._http else ""

    async def start(self) -> None:
        """Start all parts. Raises EtcdError, PortInUse or RecordingError."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)
        if self._args.record:
            self._recording = ServerRecording(self._bus, self._supervisor, Path(self._args.record))
        minor = self._config.behaviour.minor
        changed, policy = self._request_log_changed, self._config.audit_policy
        self._request_logs = RequestLogFiles(self._args, policy, minor, changed)
        if self._args.demo:
            self._demo = Demo(self._args, self._publish_failures, self._follow_filling)
            self._keep_running("the process of the demo's clients", self._demo.run)
        prepared = loop.run_in_executor(None, prepare, self._codec, codec_for())  # while etcd starts
        self._client = client = await self._source.connect(self._stop)
        await prepared
        where = ", ".join(client.endpoints)
        log.info("%s etcd %s at %s, prefix %s", self._source.kind, client.version, where, self._source.prefix)
        settings = self._settings(client)
        self._registry = registry = self._make_registry(client, settings)
        if self._source.embedded is not None and self._source.kind == "embedded":
            self._faults = FaultInjector(self._source.embedded, client, self._bus)
        browser = EtcdBrowser(client, self._source.prefix, resource_at, gentle=not self._owned)
        self._chain = self._make_chain(registry)
        await self._chain.start(writable=not client.read_only)
        limits = self._args.max_requests_inflight, self._args.max_mutating_requests_inflight
        self._flow = flow = ServerFlow(registry, settings, self._bus, *limits, follows=self._owned)
        await flow.start(writable=self._owned and not client.read_only)
        services = self._services(client, settings, registry, browser, self._chain, flow)
        self._facts = services.facts
        self._publish_info()  # a recording begins with its server
        app = Application(services, WRITES | self._chain.handlers | flow.handlers)
        tls = self._tls()
        front, listen = self._front(tls), self._args.listen
        self._http = HttpServer(app, listen, tls, self._supervisor, front, self._connections, app)
        await self._http.start()
        await self._bootstrap(client, registry)
        if not client.read_only:
            root_ca = "" if tls is None else tls.cert.read_text()
            self._controllers = make_controllers(app, owned=self._owned, root_ca=root_ca)
            for controller in self._controllers:
                controller.start()
        self._run_in_background(client, registry, browser)
        connection = ServerConnection(self.url, self._config.token or "", tls.cert if tls else None)
        name = "demo" if self._args.demo else ""
        server = announce(connection, pid=os.getpid(), name=name, started=time.time())
        write_kubeconfig(connection, server.kubeconfig)
        if self._demo is not None:
            self._demo.serve(self.url)

    def _run_in_background(self, client: EtcdClient, registry: Registry, browser: EtcdBrowser) -> None:
        if self._args.log_file:
            self._keep_running("the log", partial(self._bus.follow, TelemetryLog().log))
        if self._config.tracing is not None:
            from ktui.cli.server.tracing import export_spans  # start-up time

            self._keep_running("the trace exporter", partial(export_spans, self._bus, self._config.tracing))
        every = OWN_SECONDS if self._owned else FOREIGN_SECONDS
        self._census = Census(browser, self._source.prefix, self._bus, every)
        self._keep_running("the census", self._census.run)
        compactions = partial(follow_compactions, client, registry.compacted)
        self._keep_running("the follower of compactions", compactions)
        self._keep_running("the status check", partial(poll_status, client.status))
        self._keep_running("the collector of garbage", tidy_when_quiet)

    async def _bootstrap(self, client: EtcdClient, registry: Registry) -> None:
        """Create the default objects in an etcd that ktui started; only clients write to others."""
        if not self._owned or client.read_only:
            return
        host, port = split_listen(self.url.partition("://")[2])
        authorities = self._client_ca.read_text() if self._client_ca is not None else ""
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                await create_cluster_objects(registry, self._config.service_range, host, port, authorities)
        except (TimeoutError, ExceptionGroup) as error:
            log.warning("the default objects could not be created: %s", error)

    async def until_stopped(self) -> None:
        """Wait for a signal. Raises EmbeddedEtcdError if the embedded etcd ends."""
        stopped = asyncio.create_task(self._stop.wait())
        waits: set[asyncio.Future[Any]] = {stopped}
        etcd = self._source.embedded
        if etcd is not None:
            waits.add(etcd.failed)
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if etcd is not None and etcd.failed.done():
            raise etcd.failed.result()

    async def stop(self) -> None:
        withdraw(os.getpid())
        await stop(*self._tasks)
        # The recording has the ends of requests that the stop of http has ended.
        parts = (self._faults, self._http, self._recording, self._request_logs, self._flow, self._chain)
        for part in (*parts, *self._controllers):
            if part is not None:
                await part.stop()
        for connected in (self._registry, self._client):
            if connected is not None:
                await connected.close()
        await self._supervisor.stop()
        await self._source.stop()

    # The parts.

    @property
    def _owned(self) -> bool:
        """True if ktui started this etcd."""
        return self._source.embedded is not None

    def _settings(self, client: EtcdClient) -> Settings:
        trusted = etcd_supports_progress(client.version)
        assumed = self._args.assume_watch_progress
        if assumed is None:
            assumed = trusted or self._owned
        checks = self._args.check_consistency
        return Settings(
            self._config.behaviour, progress=assumed,
            # Progress notifications of an etcd older than Kubernetes requires may overtake events.
            confirm_progress=not trusted,
            watch_cache=self._args.watch_cache, owned=self._owned,
            check_consistency=self._owned if checks is None else checks,
            priority_and_fairness=self._args.enable_priority_and_fairness == "true",
        )  # fmt: skip

    def _make_registry(self, client: EtcdClient, settings: Settings) -> Registry:
        prefix, leases, warmups = self._source.prefix, Leases(client), 4 if self._owned else 1

        def make_store(resource: Resource) -> Store:
            return Store(client, resource, prefix, leases=leases)

        return Registry(make_store, settings, self._bus, warmups=warmups, supervisor=self._supervisor)

    def _services(
        self, client: EtcdClient, settings: Settings, registry: Registry, browser: EtcdBrowser,
        chain: RequestChain, flow: ServerFlow,
    ) -> Services:  # fmt: skip
        return Services(
            registry=registry, settings=settings, bus=self._bus,
            facts=Facts(client, settings, self._source, self._filling, self._log_warnings), etcd=browser,
            codec=self._codec, authenticator=chain.authenticator, authorizer=chain.authorizer,
            service_cluster_ip_range=self._config.service_range, flow_control=flow.controller,
            warm=partial(self._warm, registry), faults=self._faults,
            request_logs=self._request_logs.logs if self._request_logs is not None else (),
            counts_quotas=self._owned and not client.read_only,
            disabled_admission=self._config.disabled_admission, connections=self._connections,
        )  # fmt: skip

    def _make_chain(self, registry: Registry) -> RequestChain:
        config, tls, tokens = self._config, self._tls(), self._config.tokens
        if tokens.signing is None and tls is not None:
            tokens = replace(tokens, signing=load_key(tls))
        mode = self._args.authorization_mode
        return make_chain(registry, config.token, config.users, mode=mode, tokens=tokens)

    def _tls(self) -> TlsFiles | None:
        if self._args.insecure_http:
            return None
        host, _ = split_listen(self._args.listen)
        return lend_certificate(certificate_directory(host), server_directory(os.getpid()), host)

    @property
    def _client_ca(self) -> Path | None:
        named: str = self._args.client_ca_file
        return Path(named).expanduser() if named else None

    def _front(self, tls: TlsFiles | None) -> TlsFront | None:
        if tls is None or self._client_ca is None:
            return None
        return TlsFront(tls, self._client_ca, credential_ids=self._config.behaviour.minor >= 32)

    async def _warm(self, registry: Registry, table: ResourceTable) -> None:
        """Start to fill the caches; with `--data-dir` also those of custom resources, and wait for them."""
        wanted, kept = self._config.warm, self._owned and bool(self._args.data_dir)
        registry.warm(
            resource
            for resource in (table if kept else BUILTIN).preferred()
            if wanted is None or resource.id in wanted or resource.resource in wanted
        )
        if kept and not await registry.filled(FILLED_WITHIN_SECONDS):
            log.info("caches are still being filled: requests are served meanwhile")

    # Background tasks.

    def _keep_running(self, name: str, work: Work) -> None:
        self._tasks.append(self._supervisor.start(name, work))

    def _task_failures(self) -> TaskFailures:
        demo = self._demo.failing if self._demo is not None else []
        return TaskFailures(failures=[*map(str, self._supervisor.failures), *demo])

    def _publish_failures(self) -> None:
        self._bus.publish(self._task_failures())

    def _publish_info(self) -> None:
        if self._facts is not None:
            self._bus.publish(self._facts.info())

    def _follow_filling(self) -> None:
        self._publish_info()
        if self._census is not None:
            self._census.hurry()

    def _request_log_changed(self) -> None:
        """Tell the terminal and the dashboard that a log cannot be written, or can be written again."""
        for warning in self._log_warnings():
            warn(f"warning: {warning}")
        self._publish_info()

    def _log_warnings(self) -> list[str]:
        return self._request_logs.warnings() if self._request_logs is not None else []

    def _filling(self) -> str:
        return self._demo.filling if self._demo is not None else ""


def resource_at(prefix: str) -> str:
    """Return the id of the resource under `prefix` (`pods/`, `cilium.io/ciliumnodes/`); "" for none."""
    builtin = BUILTIN.by_prefix(prefix)
    if builtin is not None:
        return builtin.id
    group, _, plural = prefix.rstrip("/").partition("/")
    return f"{plural}.{group}" if "." in group and plural and "/" not in plural else ""
