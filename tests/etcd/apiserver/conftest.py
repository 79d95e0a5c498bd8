"""The whole server over a real etcd, spoken to over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from ktui.apiserver.app import Application
from ktui.apiserver.http.listener import HttpServer
from ktui.apiserver.server import RequestLog, Services
from ktui.authn.service_accounts import TokenSettings
from ktui.cacher.cacher import Cacher
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cli.server.request_chain import ALWAYS_ALLOW, ServerFlow, make_chain
from ktui.contract.events import ServerInfo
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.kube.flow_schemas import FlowSchema, classify
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.resources import Resource, builtin
from ktui.kube.users import Requester
from ktui.storage.browser import EtcdBrowser
from ktui.storage.store import Store
from ktui.storage.writer import Leases
from ktui.telemetry.bus import Bus
from ktui.wire.stored_codec import StoredCodec
from ktui.writes.admission.service_accounts import SERVICE_ACCOUNT
from ktui.writes.definitions_controller import DefinitionController
from ktui.writes.handlers import WRITES
from tests.etcd.serving import plain_client

TOKEN = "s3cret"
_numbers = itertools.count(1)
JSON = {"Content-Type": "application/json"}
MERGE = {"Content-Type": "application/merge-patch+json"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


class Facts:
    """What the composer knows; `writable` can be taken away."""

    def __init__(self, client: EtcdClient, prefix: str) -> None:
        self.writable = True
        self.problem = ""
        self._client = client
        self._prefix = prefix

    def info(self) -> ServerInfo:
        return ServerInfo(
            ktui_version="test",
            kube_version="1.36",
            etcd_version=self._client.version,
            etcd_kind="embedded",
            endpoints=self._client.endpoints,
            writable=self.writable,
            progress="assumed",
            etcd_prefix=self._prefix,
        )

    def etcd_problem(self) -> str:
        return self.problem


class Api:
    """A running server and a client that is let in."""

    def __init__(
        self,
        server: HttpServer,
        services: Services,
        app: Application,
        facts: Facts,
        http: httpx.AsyncClient,
        flow: ServerFlow,
    ) -> None:
        self.server = server
        self.flow = flow
        self.app = app
        self.catalog = app.catalog
        self.services = services
        self.facts = facts
        self.http = http

    def cacher(self, plural: str = "configmaps", group: str = "") -> Cacher:
        resource = builtin(group, plural)
        return self.services.registry.for_resource(resource)

    async def warm(self) -> None:
        """Fill the cache of the config maps."""
        assert await self.cacher().ready()

    async def seen(self, written: dict[str, Any], plural: str = "configmaps", group: str = "") -> None:
        """Wait until the cache is filled and has what was written."""
        cacher = self.cacher(plural, group)
        assert await cacher.ready(60)
        cache = cacher.cache
        assert cache is not None
        async with asyncio.timeout(60):
            while not await cache.memory.waiter.wait(int(written["metadata"]["resourceVersion"])):
                pass

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def create(self, path: str, obj: dict[str, Any], **query: str) -> httpx.Response:
        return await self.http.post(path, content=json.dumps(obj), headers=JSON, params=query)

    async def merge(self, path: str, patch: dict[str, Any]) -> httpx.Response:
        return await self.http.patch(path, content=json.dumps(patch), headers=MERGE)

    async def delete(self, path: str, **query: str) -> httpx.Response:
        return await self.http.delete(path, params=query)

    async def config_map(self, name: str, **labels: str) -> dict[str, Any]:
        """Create one in namespace a."""
        body = {"metadata": {"name": name, "labels": labels}, "data": {"k": name}}
        answer = await self.create("/api/v1/namespaces/a/configmaps", body)
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created


class Unlimited:
    """Flow control that limits nothing."""

    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema:
        return classify(who, asked, minor)

    async def enter(self, *_: Any) -> None:
        pass

    def metrics(self, _: Any) -> tuple[()]:
        return ()


@contextlib.asynccontextmanager
async def running(
    client: EtcdClient,
    prefix: str,
    token: str | None = TOKEN,
    users: Mapping[str, Requester] | None = None,
    mode: str = ALWAYS_ALLOW,
    request_logs: Sequence[RequestLog] = (),
    seats: int = 0,
    settings: Settings | None = None,
    *,
    gentle: bool = False,
    disabled_admission: frozenset[str] = frozenset({SERVICE_ACCOUNT}),
    tokens: TokenSettings | None = None,
) -> AsyncIterator[Api]:
    """No controller creates accounts here, so pods need none unless `disabled_admission` says otherwise.

    `seats` of priority levels; 0: no flow control. `gentle`: as over an etcd that others depend on."""
    bus, settings, leases = Bus(), settings or Settings(), Leases(client)
    facts = Facts(client, prefix)

    def make_store(resource: Resource) -> Store:
        return Store(client, resource, prefix, leases=leases)

    registry = Registry(make_store, settings, bus)
    browser = EtcdBrowser(client, prefix, gentle=gentle)
    chain = make_chain(registry, token, users or {}, mode=mode, tokens=tokens)
    await chain.start(writable=True)
    flow = ServerFlow(registry, settings, bus, seats, 0, follows=True)
    if seats:
        await flow.start(writable=True)
    services = Services(
        registry,
        settings,
        bus,
        facts,
        browser,
        StoredCodec(),
        chain.authenticator,
        chain.authorizer,
        flow.controller if seats else Unlimited(),
        request_logs=request_logs,
        disabled_admission=disabled_admission,
    )
    app = Application(services, WRITES | chain.handlers | flow.handlers)
    server = HttpServer(app, "127.0.0.1:0", service=app)
    await server.start()
    definitions = DefinitionController(registry)
    definitions.start()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with plain_client(server.url, headers=headers, timeout=60) as http:
            yield Api(server, services, app, facts, http, flow)
    finally:
        await server.stop()
        await flow.stop()
        await chain.stop()
        await definitions.stop()
        await registry.close()


@contextlib.asynccontextmanager
async def with_namespace(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    """A server with the namespace `a`."""
    async with running(client, prefix) as api:
        answer = await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        assert answer.status_code == 201, answer.text
        yield api


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    """A server of the test's own."""
    async with with_namespace(client, prefix) as api:
        yield api


@pytest.fixture(scope="module")
async def shared_api(etcd: EmbeddedEtcd, anyio_backend: object) -> AsyncIterator[Api]:
    """A server for the tests of a module that leave nothing behind which another of them would see."""
    client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
    async with with_namespace(client, f"/shared{next(_numbers)}") as api:
        yield api
    await client.close()


@pytest.fixture
def widgets() -> dict[str, Any]:
    """A CustomResourceDefinition with a schema, a default and a status subresource."""
    definition: dict[str, Any] = json.loads((Path(__file__).parent / "widgets.json").read_text())
    return definition
