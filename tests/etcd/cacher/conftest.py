"""Cachers over a real etcd."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from ktui.cacher import watch_cache as revision_waiter
from ktui.cacher.cacher import Cacher
from ktui.cacher.cacher_requests import ListAnswer, ListRequest, WatchAnswer, WatchRequest
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cacher.watch_events import OutEvent
from ktui.etcd.client import EtcdClient
from ktui.kube.listoptions import parse_list_options
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.versions import behaviour_of
from ktui.storage.objects import SelectionPredicate
from ktui.storage.store import Store
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio

WATCH_SECONDS = 3600.0  # no test is to see the end of its WATCH, nor the bookmark before that


class Cluster:
    """A registry of caches, and short words for what clients do."""

    def __init__(self, client: EtcdClient, prefix: str, bus: Bus) -> None:
        self.settings = Settings()
        self.bus = bus
        self.client = client
        self.prefix = prefix
        self.registry = Registry(self._store, self.settings, bus)

    def _store(self, resource: Resource) -> Store:
        return Store(self.client, resource, self.prefix)

    def version(self, text: str, **gates: bool) -> None:
        self.settings.behaviour = behaviour_of(text, gates)

    def cacher(self, resource: str = "configmaps", group: str = "", version: str = "v1") -> Cacher:
        found = BUILTIN.find(group, version, resource)
        assert found is not None
        return self.registry.for_resource(found)

    async def warm(self, resource: str = "configmaps") -> Cacher:
        cacher = self.cacher(resource)
        assert await cacher.ready(60)
        return cacher

    async def put(self, name: str, namespace: str = "a", resource: str = "configmaps", **labels: str) -> int:
        """Create or update; the resourceVersion of the write."""
        cacher = self.cacher(resource)
        if resource == "pods":
            return await self._put_pod(cacher, namespace, name, labels)
        found, _ = await cacher.store.get(namespace, name)
        if found is not None:
            return (await cacher.store.update(namespace, name, lambda obj: _labelled(obj, labels))).rv
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(namespace, name, labels)}
        return (await cacher.store.create(obj)).rv

    async def _put_pod(self, cacher: Cacher, namespace: str, name: str, labels: dict[str, str]) -> int:
        spec = {"nodeName": labels.pop("node", "n1"), "containers": [{"name": "c", "image": "i"}]}
        metadata = _metadata(namespace, name, labels)
        return (
            await cacher.store.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        ).rv

    async def delete(self, name: str, namespace: str = "a") -> int:
        return (await self.cacher().store.delete(namespace, name)).rv

    async def list(
        self, query: str = "", namespace: str | None = None, resource: str = "configmaps"
    ) -> ListAnswer:
        cacher = self.cacher(resource)
        options, selection = _parsed(query, cacher, namespace)
        return await cacher.list(ListRequest(namespace, None, options, selection))

    async def watch(
        self, query: str = "", namespace: str | None = None, resource: str = "configmaps"
    ) -> WatchAnswer:
        cacher = self.cacher(resource)
        options, selection = _parsed(f"watch=1&{query}", cacher, namespace)
        return await cacher.watch(WatchRequest(namespace, None, options, selection, timeout=WATCH_SECONDS))


def _metadata(namespace: str, name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {"namespace": namespace, "name": name, "labels": labels}


def _labelled(obj: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    obj["metadata"]["labels"] = labels
    return obj


def _parsed(query: str, cacher: Cacher, namespace: str | None) -> Any:
    options = parse_list_options(query)
    selection = SelectionPredicate(
        LabelSelector.parse(options.label_selector),
        FieldSelector.parse(options.field_selector, cacher.resource),
        namespace,
    )
    return options, selection


@pytest.fixture
async def cluster(
    client: EtcdClient, prefix: str, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Cluster]:
    """Its readers wait for their cache as long as it takes: 3 s are soon over on a machine that stalls."""
    monkeypatch.setattr(revision_waiter.RevisionWaiter.wait, "__defaults__", (60.0,))
    cluster = Cluster(client, prefix, bus)
    yield cluster
    await cluster.registry.close()


def names(answer: ListAnswer) -> list[str]:
    return [f"{obj.namespace}/{obj.name}" for obj in answer.objects]


def events_of(answer: WatchAnswer) -> AsyncIterator[OutEvent]:
    """Yield a stream's events one by one."""
    return (event async for batch in answer.stream.batches() for event in batch)


async def read(answer: WatchAnswer, until: Callable[[OutEvent], bool]) -> list[tuple[str, str, int]]:
    """Events (type, name, rv) up to the first that satisfies `until`; the stream is closed then."""
    seen = []
    async with asyncio.timeout(60):
        async for event in events_of(answer):
            seen.append((event.type, event.object.name if event.object else "", event.rv))
            if until(event):
                answer.stream.close("client gone")
                break
    return seen
