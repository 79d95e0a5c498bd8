"""`/metrics`, scraped and parsed as Prometheus does it."""

from __future__ import annotations

import re

import pytest

from ktui.kube.resources import builtin
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
    config_maps = builtin("", "configmaps")
    assert await api.services.registry.for_resource(config_maps).ready()
    await api.seen(await api.config_map("one"))
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


async def test_what_lists_read_is_told_by_storage_since_1_37(api: Api) -> None:
    assert (await api.http.put("/ktui/v1/behaviour", json={"kube_version": "1.37"})).status_code == 200
    await read_config_maps(api)
    assert (await api.get("/api/v1/events?labelSelector=a")).status_code == 200
    samples = await scrape(api)
    cached = {"group": "", "resource": "configmaps", "storage": "watchcache"}
    # Without the revision probe, which is a read of its own now.
    assert value(samples, "apiserver_storage_list_total", **cached, index="") == 3
    assert value(samples, "apiserver_storage_list_fetched_objects_total", **cached, index="") == 3
    assert value(samples, "apiserver_storage_list_returned_objects_total", **cached) == 3
    assert value(samples, "apiserver_storage_list_evaluated_objects_total", **cached) == 0
    assert value(samples, "apiserver_cache_list_total", group="", resource="configmaps", index="") == 3
    stored = {"group": "", "resource": "events", "storage": "etcd"}
    assert value(samples, "apiserver_storage_list_total", **stored, index="") == 1
    assert not [labels for labels, _ in samples["apiserver_storage_list_total"] if "storage" not in labels]


async def test_verbs_scopes_and_dry_runs(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps"
    await api.create(path, {"metadata": {"name": "dry"}}, dryRun="All")
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    await api.http.patch(f"{path}/applied", content=body, headers=headers, params={"fieldManager": "m"})
    samples = await scrape(api)
    posted = {"verb": "POST", "resource": "configmaps", "scope": "resource", "dry_run": "All"}
    assert value(samples, "apiserver_request_total", **posted, code="201") == 1
    applied = {"verb": "APPLY", "resource": "configmaps", "scope": "resource", "dry_run": ""}
    assert value(samples, "apiserver_request_total", **applied, code="201") == 1
    assert value(samples, "apiserver_request_sli_duration_seconds_count", verb="APPLY") == 1


@pytest.mark.parametrize(
    ("version", "there", "missing"),
    [
        ("1.22", "apiserver_longrunning_gauge", "apiserver_longrunning_requests"),
        (
            "1.24",
            "apiserver_request_slo_duration_seconds_count",
            "apiserver_request_sli_duration_seconds_count",
        ),
        ("1.36", "apiserver_longrunning_requests", "apiserver_request_slo_duration_seconds_count"),
    ],
)
async def test_names_that_changed(api: Api, version: str, there: str, missing: str) -> None:
    assert (await api.http.put("/ktui/v1/behaviour", json={"kube_version": version})).status_code == 200
    await api.get("/api/v1/namespaces/a/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0")
    await api.config_map("one")
    samples = await scrape(api)
    assert there in samples and missing not in samples


async def test_labels_come_from_closed_sets(api: Api) -> None:
    """Whatever clients send, `/metrics` does not grow."""

    async def odd(number: int) -> None:
        text = f"odd{number}"
        maps = "/api/v1/namespaces/a/configmaps"
        for method, path in (
            ("POST", f"{maps}?dryRun={text}&fieldManager={text}"),
            ("POST", f"{maps}?dryRun=All&dryRun={text}"),
            ("PATCH", f"{maps}/{text}?dryRun={text}"),
            (f"ODD{number}", f"{maps}/{text}"),
            ("GET", f"{maps}/{text}/{text}"),
            ("GET", f"/api/v1/namespaces/{text}/{text}/x/{text}"),
            ("GET", f"/apis/{text}/v1/{text}/x/{text}"),
            ("HEAD", f"{maps}?resourceVersionMatch={text}&limit={text}"),
        ):
            content_type = f"application/{text}" if method == "PATCH" else "application/json"
            answer = await api.http.request(
                method, path, content=b"{", headers={"Content-Type": content_type}
            )
            assert answer.status_code >= 400

    await odd(0)
    before = await scrape(api)
    for number in range(1, 20):
        await odd(number)
    after = await scrape(api)
    assert {name: len(values) for name, values in after.items()} == {
        name: len(values) for name, values in before.items()
    }
    assert value(after, "apiserver_request_total", dry_run="invalid", verb="POST") == 40
    assert {labels["verb"] for labels, _ in after["apiserver_request_total"]} == {"POST"}  # what has a route


async def test_requests_that_reach_no_handler_are_not_counted(api: Api) -> None:
    """As kube-apiserver counts the same requests; DELETECOLLECTION has the method's name."""
    maps = "/api/v1/namespaces/a/configmaps"
    for method, path, headers in (
        ("GET", maps, {"Authorization": "Bearer wrong"}),
        ("GET", maps, {"Accept": "text/html"}),
        ("GET", f"{maps}/x/nothing", {}),
        ("HEAD", maps, {}),
        ("PUT", maps, {}),
        ("GET", "/api", {}),
        ("GET", f"{maps}?limit=-x", {}),
        ("DELETE", f"{maps}?dryRun=All", {}),
        ("GET", "/api/v1/namespaces/a/pods/x/log", {}),
        ("GET", f"{maps}?watch=1&timeoutSeconds=1&resourceVersionMatch=x", {}),
    ):
        await api.http.request(method, path, headers=headers)
    samples = await scrape(api)
    counted = {
        (labels["verb"], labels["code"], labels["scope"]) for labels, _ in samples["apiserver_request_total"]
    }
    assert counted - {("POST", "201", "resource")} == {  # without the fixture's own
        ("LIST", "400", "namespace"),
        ("DELETE", "200", "namespace"),
        ("CONNECT", "404", "resource"),
        ("WATCH", "422", "namespace"),
    }
    timed = {labels["verb"] for labels, _ in samples["apiserver_request_duration_seconds_count"]}
    judged = {
        labels["verb"] for labels, count in samples["apiserver_request_sli_duration_seconds_count"] if count
    }
    assert timed - {"POST"} == {"LIST", "DELETE", "CONNECT", "WATCH"}
    assert judged - {"POST"} == {"LIST", "CONNECT"}
