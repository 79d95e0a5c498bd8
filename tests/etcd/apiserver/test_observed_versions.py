"""What `ktui observe` makes of a server's metrics under each version is what was sent to it."""

from __future__ import annotations

from collections import Counter

import pytest

from ktui.client.kube_connection import KubeConnection
from ktui.core.live.live_state import LiveState, fold_all
from ktui.core.live.observe_document import report_document
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.versions import behaviour_of
from ktui.live.scraper import Scraper
from tests.etcd.apiserver.conftest import TOKEN, Api

pytestmark = pytest.mark.anyio

LISTS = "/api/v1/namespaces/a/configmaps", "/api/v1/configmaps"
QUERIES = "", "?resourceVersion=0", "?limit=2", "?labelSelector=odd%3Dyes"
FIGURES = ("fetched", "evaluated", "returned")


@pytest.mark.parametrize("minor", range(24, NEWEST_MINOR + 1))
async def test_every_list_is_counted_where_it_was_served(api: Api, minor: int) -> None:
    made = [await api.config_map(f"c{number}", odd="yes" if number % 2 else "no") for number in range(6)]
    await api.warm()
    await api.seen(made[-1])
    api.services.settings.behaviour = behaviour_of(f"1.{minor}")
    exact = f"?resourceVersion={made[2]['metadata']['resourceVersion']}&resourceVersionMatch=Exact"
    live, at = LiveState(), [1_795_352_800.0]
    scraper = Scraper(lambda: KubeConnection(api.server.url, token=TOKEN), clock=lambda: at[0])
    try:
        fold_all(live, await scraper.start())
        fold_all(live, await scraper.scrape())
        sent: dict[str, Counter[str]] = {"cache": Counter(), "etcd": Counter()}
        size = 0
        for path in LISTS:
            for query in (*QUERIES, exact):
                answer = await api.get(f"{path}{query}")
                assert answer.status_code == 200, answer.text
                route = sent[answer.headers["X-Ktui-Route"]]
                cost = dict(part.split("=") for part in answer.headers["X-Ktui-Cost"].split(", "))
                route.update({"lists": 1, **{name: int(cost[name]) for name in FIGURES}})
                size += len(answer.content)
        refused = await api.get("/api/v1/configmaps?labelSelector=%21%21")
        assert refused.status_code == 400
        at[0] += 30.0
        fold_all(live, await scraper.scrape())
    finally:
        await scraper.close()
    document = report_document(live)
    found = document["resources"]["configmaps"]
    assert document["server"]["version"] == f"1.{minor}"
    for served in ("cache", "etcd"):
        for name in ("lists", "fetched", "returned"):
            assert found[served][name] == sent[served][name], f"{name} of {served}"
    assert (found["lists"], found["errors"], found["rejected"]) == (11, 1, 0)
    assert found["scopes"]["cluster"]["lists"] == 6
    assert found["scopes"]["namespace"]["lists"] == 5
    assert found["rates"]["lists"] == round(11 / 30, 3)
    assert found["bytes"] == size + len(refused.content)
    consistent = len(LISTS) * sum("resourceVersion" not in query for query in QUERIES)
    assert found["consistent_reads"]["success"] == (consistent if minor >= 31 else None)
