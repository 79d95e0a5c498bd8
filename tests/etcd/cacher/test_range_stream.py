"""LISTs and caches over an etcd with RangeStream and over one without; the objects are in a real etcd."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ktui.etcd.client import RECHECK_SECONDS, EtcdClient, RangeStreams
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.kube.status import StatusError
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter, metered
from tests.etcd.streaming import StreamingGateway

from .conftest import Cluster, events_of, names

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gateway(etcd: EmbeddedEtcd) -> AsyncIterator[StreamingGateway]:
    gateway = await StreamingGateway.to(etcd.endpoint)
    yield gateway
    await gateway.close()


@pytest.fixture
async def streaming(gateway: StreamingGateway, prefix: str, bus: Bus) -> AsyncIterator[Cluster]:
    """A 1.37 over an etcd with RangeStream, with 25 ConfigMaps in two namespaces."""
    client = await EtcdClient.connect(EtcdConfig((gateway.endpoint,), read_only=False), bus)
    cluster = Cluster(client, prefix, bus)
    await filled(cluster)
    yield cluster
    await cluster.registry.close()
    await client.close()


async def filled(cluster: Cluster) -> None:
    cluster.version("1.37")
    for number in range(25):
        await cluster.put(f"c{number:02}", "ab"[number % 2], odd=str(number % 2))


async def test_a_cache_is_filled_by_a_stream(streaming: Cluster, gateway: StreamingGateway):
    cacher = await streaming.warm()
    assert (gateway.streams, gateway.chunks) == (1, [10, 15])
    assert len(cacher.cache.memory.store) == 25
    assert cacher.store.range_stream is True
    assert names(await streaming.list("resourceVersion=0"))[0] == "a/c00"


async def test_lists_are_those_of_an_etcd_without(streaming: Cluster, gateway: StreamingGateway):
    """Whole, a page and the rest, a namespace, an exact revision: the same objects, revisions and tokens."""
    streaming.settings.watch_cache = False
    rv = await streaming.put("last", "b")
    queries = [
        ("", None),
        ("", "a"),
        ("limit=4", None),
        ("limit=13", "b"),
        ("limit=100", None),
        ("labelSelector=odd%3D1", None),
        ("labelSelector=odd%3D1&limit=3", None),
        (f"resourceVersion={rv - 5}&resourceVersionMatch=Exact", None),
        (f"resourceVersion={rv - 5}&resourceVersionMatch=Exact&limit=7", None),
        ("fieldSelector=metadata.namespace%3Da&limit=3", None),
    ]
    for query, namespace in queries:
        streaming.version("1.36")
        paged = await streaming.list(query, namespace)
        before = gateway.streams
        streaming.version("1.37")
        with metered(Meter()) as meter:
            streamed = await streaming.list(query, namespace)
        assert names(streamed) == names(paged), query
        assert (streamed.rv, streamed.continue_, streamed.remaining) == (
            paged.rv,
            paged.continue_,
            paged.remaining,
        )
        selected = "Selector" in query and "limit" in query
        assert gateway.streams - before == (0 if selected else 1), query
        assert meter.streamed is not selected
        assert meter.etcd_lists >= 1 and meter.etcd_bytes > 0
        if paged.continue_ and "fieldSelector" not in query:
            rest = f"continue={paged.continue_}"
            following = names(await streaming.list(rest, namespace))
            streaming.version("1.36")
            assert following == names(await streaming.list(rest, namespace)) and following


async def test_an_empty_collection(streaming: Cluster, gateway: StreamingGateway):
    streaming.settings.watch_cache = False
    answer = await streaming.list("", "nowhere")
    assert (answer.objects, answer.continue_) == ([], "") and answer.rv > 0
    assert gateway.streams == 1


async def test_a_revision_that_etcd_does_not_have_yet(streaming: Cluster):
    streaming.settings.watch_cache = False
    with pytest.raises(StatusError) as error:
        await streaming.list("resourceVersion=999999999&resourceVersionMatch=Exact")
    assert error.value.code == 504


async def test_a_watch_of_etcd_lists_by_a_stream(streaming: Cluster, gateway: StreamingGateway):
    streaming.settings.watch_cache = False
    answer = await streaming.watch("", "a")
    seen = []
    async for event in events_of(answer):
        seen.append(event)
        if len(seen) == 13:
            break
    answer.stream.close("client gone")
    assert gateway.streams == 1


async def test_the_checker_reads_by_a_stream(streaming: Cluster, gateway: StreamingGateway):
    cache = (await streaming.warm()).cache
    assert await cache.checker.once() == "success"
    assert gateway.streams == 2


async def test_an_etcd_without_it_is_asked_again_after_ten_minutes(cluster: Cluster, bus: Bus):
    """The embedded etcd, 3.5: one refused RPC, then pages, whatever is listed."""
    now = 1000.0
    streams = cluster.client.range_streams = RangeStreams(lambda: now)
    await filled(cluster)
    cluster.settings.watch_cache = False
    assert streams.supported is None
    before = cluster.client.usage.rpcs
    first = await cluster.list()
    assert first.plan.unstreamed is not None, "assumed until etcd refused"
    assert cluster.client.usage.rpcs - before == 2
    assert (streams.known, streams.supported, streams.recheck_in) == (False, False, RECHECK_SECONDS)
    before = cluster.client.usage.rpcs
    second = await cluster.list()
    assert (second.plan.unstreamed, second.plan.stream_supported) == (None, False)
    assert cluster.client.usage.rpcs - before == 1
    now += RECHECK_SECONDS
    assert streams.supported is None
    before = cluster.client.usage.rpcs
    assert names(await cluster.list()) == names(first)
    assert cluster.client.usage.rpcs - before == 2
    assert streams.supported is False


async def test_a_page_without_it(cluster: Cluster):
    await filled(cluster)
    cluster.settings.watch_cache = False
    answer = await cluster.list("limit=4")
    assert len(answer.objects) == 4 and answer.continue_ and answer.remaining == 21
