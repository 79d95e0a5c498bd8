"""`/metrics`, scraped and parsed as Prometheus does it."""

from __future__ import annotations

import re

import pytest

from ktui.kube.resources import BUILTIN
from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio

SAMPLE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')

Samples = dict[str, list[tuple[dict[str, str], float]]]


async def scrape(api: Api) -> Samples:
    answer = await api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples: Samples = {}
    types: set[str] = set()
    for line in answer.text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in types, f"{name} stands twice"
            types.add(name)
        if line.startswith("#"):
            continue
        found = SAMPLE.fullmatch(line)
        assert found, line
        labels = dict(LABEL.findall(found["labels"] or ""))
        samples.setdefault(found["name"], []).append((labels, float(found["value"])))
    return samples


def value(samples: Samples, name: str, **labels: str) -> float:
    found = [number for has, number in samples.get(name, ()) if labels.items() <= has.items()]
    assert len(found) == 1, (name, labels, samples.get(name))
    return found[0]


async def read_config_maps(api: Api) -> None:
    config_maps = BUILTIN.find("", "v1", "configmaps")
    assert config_maps is not None
    assert await api.services.registry.for_resource(config_maps).ready()
    await api.config_map("one")
    for query in ("", "?resourceVersion=0", "?limit=1&resourceVersion=1&resourceVersionMatch=NotOlderThan"):
        assert (await api.get(f"/api/v1/namespaces/a/configmaps{query}")).status_code == 200


async def test_metrics_of_reads(api: Api) -> None:
    await read_config_maps(api)
    samples = await scrape(api)
    named = {"group": "", "resource": "configmaps"}
    assert value(samples, "apiserver_cache_list_total", **named, index="") == 3
    assert value(samples, "apiserver_cache_list_returned_objects_total", **named) == 3
    assert value(samples, "apiserver_storage_list_total", **named) == 1  # the revision probe
    assert value(samples, "apiserver_watch_cache_read_wait_seconds_count", **named) == 2
    assert value(samples, "apiserver_watch_cache_consistent_read_total", **named, success="true") == 1
    assert value(samples, "apiserver_request_total", verb="LIST", resource="configmaps", code="200") == 3


async def test_metrics_of_a_cache(api: Api) -> None:
    await read_config_maps(api)
    samples = await scrape(api)
    named = {"group": "", "resource": "configmaps"}
    assert value(samples, "watch_cache_capacity", **named) == 100
    assert value(samples, "apiserver_watch_cache_events_received_total", **named) == 1
    assert value(samples, "apiserver_watch_cache_events_dispatched_total", **named) == 1
    assert value(samples, "apiserver_watch_cache_initializations_total", **named) == 1
    assert value(samples, "apiserver_terminated_watchers_total", **named) == 0
    assert value(samples, "apiserver_resource_objects", **named) == 1
    assert value(samples, "apiserver_resource_size_estimate_bytes", **named) > 50


async def test_names_and_labels_are_those_of_the_version(api: Api) -> None:
    put = await api.http.put("/ktui/v1/behaviour", json={"kube_version": "1.29"})
    assert put.status_code == 200
    await read_config_maps(api)
    samples = await scrape(api)
    assert value(samples, "apiserver_storage_objects", resource="configmaps") == 1
    assert value(samples, "apiserver_cache_list_total", resource_prefix="/configmaps") == 1
    for newer in ("apiserver_resource_objects", "apiserver_watch_cache_read_wait_seconds_count"):
        assert newer not in samples
