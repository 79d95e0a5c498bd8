"""Storages that report an etcd 3.7 and lack what it has, as kine does: found by trying, not by version."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from aetcd import rpc

from ktui.cacher import watch_cache as revision_waiter
from ktui.cacher.cacher_requests import FELL_BACK
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.injection import WATCH, Gateway
from ktui.kube.routing.cache_state import etcd_supports_progress
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter, metered
from tests.etcd.streaming import RANGE_STREAM

from .conftest import Cluster, names

pytestmark = pytest.mark.anyio

STATUS = "/etcdserverpb.Maintenance/Status"
EMULATED = "3.7.0"
LATE_SECONDS = 0.3


class Silent:
    """Passes on events, but no progress: neither what was asked for nor what etcd sends by itself."""

    def __init__(self, context: Any) -> None:
        self._context = context

    async def write(self, answer: bytes) -> None:
        response = rpc.WatchResponse.FromString(answer)
        if response.events or response.created or response.canceled:
            await self._context.write(answer)


class Emulated(Gateway):
    """Relays to a real etcd, whose version it hides. `refuses`: it ends a watch that asks for its progress
    with Unimplemented; else it ignores the request.
    """

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.refuses = False
        self.streams = 0
        self.progress_requests = 0

    def service(self, details: Any) -> grpc.RpcMethodHandler:
        if details.method == RANGE_STREAM:
            return grpc.unary_stream_rpc_method_handler(self._no_stream)
        if details.method == STATUS:
            return grpc.unary_unary_rpc_method_handler(self._status)
        if details.method == WATCH:
            return grpc.stream_stream_rpc_method_handler(self._no_progress)
        return super().service(details)

    async def _no_stream(self, raw: bytes, context: Any) -> None:
        self.streams += 1
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "unknown method RangeStream")

    async def _status(self, raw: bytes, context: Any) -> bytes:
        found = rpc.StatusResponse.FromString(await self._channel.unary_unary(STATUS)(raw))
        found.version = EMULATED
        answer: bytes = found.SerializeToString()
        return answer

    async def _no_progress(self, requests: AsyncIterator[bytes], context: Any) -> None:
        refused = asyncio.Event()

        async def without_progress() -> AsyncIterator[bytes]:
            async for raw in requests:
                if rpc.WatchRequest.FromString(raw).WhichOneof("request_union") != "progress_request":
                    yield raw
                    continue
                self.progress_requests += 1
                if self.refuses:
                    refused.set()

        relayed = asyncio.create_task(super()._watch(without_progress(), Silent(context)))
        refusal = asyncio.create_task(refused.wait())
        try:
            await asyncio.wait((relayed, refusal), return_when=asyncio.FIRST_COMPLETED)
        finally:
            relayed.cancel()
            refusal.cancel()
        if refused.is_set():
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "progress requests are not supported")


@pytest.fixture
async def gateway(etcd: EmbeddedEtcd) -> AsyncIterator[Emulated]:
    gateway = await Emulated.to(etcd.endpoint)
    assert isinstance(gateway, Emulated)
    yield gateway
    await gateway.close()


@pytest.fixture
async def kine(
    gateway: Emulated, prefix: str, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Cluster]:
    """A 1.37 that believes the version, whose readers wait for a late cache only briefly."""
    monkeypatch.setattr(revision_waiter.RevisionWaiter.wait, "__defaults__", (LATE_SECONDS,))
    client = await EtcdClient.connect(EtcdConfig((gateway.endpoint,), read_only=False), bus)
    cluster = Cluster(client, prefix, bus)
    cluster.version("1.37")
    cluster.settings.progress = etcd_supports_progress(client.version)
    cluster.settings.confirm_progress = False
    yield cluster
    await cluster.registry.close()
    await client.close()


async def test_streams_are_tried_whatever_the_version_says(kine: Cluster, gateway: Emulated) -> None:
    """One refused RPC for the first fill; then pages, for LISTs of etcd too, without another try."""
    for number in range(3):
        await kine.put(f"c{number}")
    assert kine.client.version == EMULATED
    await kine.warm()
    assert (gateway.streams, kine.client.range_streams.supported) == (1, False)
    kine.settings.watch_cache = False
    answer = await kine.list()
    assert names(answer) == ["a/c0", "a/c1", "a/c2"]
    assert (answer.plan.unstreamed, answer.plan.stream_supported) == (None, False)
    assert gateway.streams == 1


@pytest.mark.parametrize("refuses", [False, True])
async def test_consistent_lists_without_progress(kine: Cluster, gateway: Emulated, refuses: bool) -> None:
    """The version is believed, as kube-apiserver does: a late cache is waited for, then etcd is read."""
    gateway.refuses = refuses
    await kine.put("c0")
    await kine.warm()
    await kine.put("c1")
    assert names(await kine.list("resourceVersion=0")), "the cache follows its events"
    await kine.put("elsewhere", resource="pods")  # etcd's revision passes that of the cache
    with metered(Meter()) as meter:
        answer = await kine.list()
    assert names(answer) == ["a/c0", "a/c1"] and answer.plan.probe
    assert answer.route == FELL_BACK and meter.etcd_lists == 1
    assert gateway.progress_requests > 0
    await kine.put("c2")
    async with asyncio.timeout(60):
        while "a/c2" not in names(await kine.list("resourceVersion=0")):
            await asyncio.sleep(0)  # the watch begins again after each refusal


async def test_without_a_version_etcd_is_read(kine: Cluster, gateway: Emulated) -> None:
    """dqlite reports none: progress cannot be relied on, so consistent LISTs go to etcd at once."""
    kine.settings.progress = etcd_supports_progress("")
    await kine.put("c0")
    await kine.warm()
    answer = await kine.list()
    assert (names(answer), answer.route, answer.plan.reason_id) == (["a/c0"], "etcd", "d.unset_noprogress")
    assert gateway.progress_requests == 0
