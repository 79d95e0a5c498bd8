"""Requests that etcd keeps waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from ktui.contract.events import CacheStatus, RequestFinished, RequestRouted
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.kube.resources import builtin
from ktui.telemetry.bus import Bus

from ..cacher.link import Link
from .conftest import Api, running
from .told import request_id

pytestmark = pytest.mark.anyio


@pytest.fixture
async def link(etcd: EmbeddedEtcd) -> AsyncIterator[Link]:
    link = await Link.to(etcd.endpoint)
    yield link
    await link.close()


@pytest.fixture
async def stalled(link: Link, prefix: str) -> AsyncIterator[Api]:
    """A server with a full cache of nodes and an etcd that does not answer any more."""
    client = await EtcdClient.connect(EtcdConfig((link.endpoint,), read_only=False), Bus())
    async with running(client, prefix) as api:
        assert (await api.get("/api/v1/nodes")).status_code in (200, 429)
        registry = api.services.registry
        assert await registry.for_resource(builtin("", "nodes")).ready()
        link.stall()
        yield api
        link.restore()
    await client.close()


async def test_the_time_that_a_client_allows_is_kept(stalled: Api):
    assert (await stalled.get("/api/v1/nodes?resourceVersion=0")).status_code == 200
    for path in ("/api/v1/nodes", "/api/v1/nodes/n1"):
        late = await stalled.get(f"{path}?timeout=200ms")
        assert late.status_code == 504
        assert late.json() == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "Timeout: request did not complete within the allotted timeout",
            "reason": "Timeout",
            "details": {},
            "code": 504,
        }


async def test_a_garbled_time_is_refused(stalled: Api):
    refused = await stalled.get("/api/v1/nodes?timeout=soon")
    assert refused.status_code == 400
    assert refused.json()["message"] == (
        'invalid timeout specified in the request URL - time: invalid duration "soon"'
    )


async def test_everybody_can_see_who_waits(stalled: Api, link: Link):
    events, seen, finished = stalled.services.bus.subscribe(), [], 0
    late = asyncio.create_task(stalled.get("/api/v1/nodes"))
    async with asyncio.timeout(60):
        async for batch in events.batches():
            seen += batch
            if any(isinstance(event, CacheStatus) and event.waiting == 1 for event in batch):
                link.restore()
                finished = request_id(await late)
            if any(isinstance(event, RequestFinished) and event.id == finished for event in seen):
                break
    events.close()

    def place(kind: type, **wanted: object) -> int:
        return next(
            at
            for at, event in enumerate(seen)
            if isinstance(event, kind) and all(getattr(event, k) == v for k, v in wanted.items())
        )

    routed, waiting = place(RequestRouted, route="cache"), place(CacheStatus, resource="nodes", waiting=1)
    assert routed < waiting < place(RequestFinished, id=finished, status=200)


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/nope", "/apis", "/api/v1/nodes/n1"])
async def test_a_garbled_time_is_refused_before_authentication(api: Api, path: str) -> None:
    refused = await api.get(f"{path}?timeout=soon", Authorization="Bearer wrong")
    assert (refused.status_code, refused.json()["reason"]) == (400, "BadRequest")
    assert "x-kubernetes-pf-flowschema-uid" not in refused.headers
    assert (await api.get(f"{path}?timeout=1s", Authorization="Bearer wrong")).status_code == 401


async def test_before_1_20_there_was_no_such_parameter(api: Api) -> None:
    await api.http.put("/ktui/v1/behaviour", json={"kube_version": "1.19"})
    assert (await api.get("/healthz?timeout=soon")).status_code == 200
