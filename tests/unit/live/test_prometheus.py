"""Figures by way of a real Prometheus (Debian's package) that scrapes the recorded pages."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.metrics_page import Sample
from ktui.core.live.live_state import LiveState, fold_all, routes_of
from ktui.core.live.window import PART, PARTS
from ktui.live.prometheus import PrometheusConnection, PrometheusFeed, inferred_minor, selectors
from tests.etcd.ports import reserved_ports
from tests.unit.client.rude import rude_server, whole
from tests.unit.live.recorded import FIRST, LAST, Recorded, lists_sent, metrics, serving

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
BINARY, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
HANGS = 60.0  # seconds: the bound of a wait that never ends, no measure of speed

CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: apiserver
  static_configs: [{{targets: [{targets}]}}]
"""


@contextlib.contextmanager
def prometheus(folder: Path, *urls: str) -> Iterator[str]:
    assert BINARY is not None
    targets = ", ".join(f'"{url.removeprefix("http://")}"' for url in urls)
    (folder / "prometheus.yml").write_text(CONFIG.format(targets=targets))
    with reserved_ports(1) as (port,):
        process = subprocess.Popen(
            [BINARY, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


async def until_sum(url: str, query: str, holds: Callable[[float], bool]) -> None:
    """Wait until the sum of a metric over all replicas is as wanted."""
    client = ApiClient(PrometheusConnection(url))
    path = f"/api/v1/query?{urlencode({'query': f'sum({query})'})}"
    async with asyncio.timeout(HANGS):
        while True:
            with contextlib.suppress(ClientError):
                found = (await client.get_json(path))["data"]["result"]
                if found and holds(float(found[0]["value"][1])):
                    break
            await asyncio.sleep(0.05)  # Prometheus sends no signal
    await client.close()


@pytest.fixture
async def one_page_a_replica() -> AsyncIterator[tuple[Recorded, Recorded]]:
    with serving(Recorded(replicas=(0,))) as first, serving(Recorded(replicas=(1,))) as second:
        yield first, second


@pytest.mark.skipif(BINARY is None, reason="there is no prometheus on PATH")
async def test_a_real_prometheus_gives_the_same_figures(
    one_page_a_replica: tuple[Recorded, Recorded], tmp_path: Path
) -> None:
    lists = 'apiserver_request_total{verb="LIST",resource="pods"}'
    with prometheus(tmp_path, *(recorded.url for recorded in one_page_a_replica)) as url:
        await until_sum(url, lists, lambda value: value == 2)
        await until_sum(url, "up", lambda value: value == 2)
        feed = PrometheusFeed(PrometheusConnection(url, context="prom"), 300.0)
        live = LiveState()
        fold_all(live, await feed.start())
        for recorded in one_page_a_replica:
            recorded.moment = LAST
        await until_sum(url, lists, lambda value: value == 2 + lists_sent("pods")["cache"])
        async for events in feed.batches(0.01):
            fold_all(live, events)
        await feed.close()
    assert len(live.replicas) == 2
    for resource in ("pods", "services", "secrets", "configmaps", "events"):
        row = routes_of(live, resource)
        assert row is not None
        sent = lists_sent(resource)
        assert (row.cache.lists, row.etcd.lists) == (sent.get("cache", 0), sent.get("etcd", 0)), resource
    assert live.server is not None
    assert live.server.origin == "prometheus"
    assert live.status is not None
    assert live.status.requests == 2 * len(list(selectors())) + len(list(selectors()))


# The past: a real Prometheus over blocks that promtool has made of the recorded pages.


def history(now: float) -> Iterator[str]:
    """An hour as OpenMetrics: the first page every two minutes for half of it, from then on the last one."""
    for number, replica in enumerate((0, 1)):
        for moment, minutes in ((FIRST, range(-60, -30, 2)), (LAST, range(-30, 1, 2))):
            lines = [line for line in metrics(replica, moment).decode().splitlines() if line[:1] not in "#"]
            for minute in minutes:
                for line in lines:
                    name, _, rest = line.partition("{")
                    labelled = f'{name}{{instance="replica-{number}",job="apiserver",{rest}'
                    if not rest:
                        name, value = line.split()
                        labelled = f'{name}{{instance="replica-{number}",job="apiserver"}} {value}'
                    yield f"{labelled} {now + 60 * minute:.3f}\n"
    yield "# EOF\n"


@contextlib.contextmanager
def with_a_past(folder: Path) -> Iterator[str]:
    """A Prometheus that scrapes nothing and has an hour of both replicas."""
    text = folder / "past.txt"
    with text.open("w") as file:
        file.writelines(history(time.time()))
    subprocess.run(
        [str(PROMTOOL), "tsdb", "create-blocks-from", "openmetrics", str(text), str(folder / "data")],
        check=True, capture_output=True,
    )  # fmt: skip
    with prometheus(folder) as url:
        yield url


@pytest.mark.skipif(PROMTOOL is None, reason="there is no promtool on PATH")
async def test_the_past_hour_of_a_real_prometheus_is_there_at_once(tmp_path: Path) -> None:
    with with_a_past(tmp_path) as url:
        await until_sum(url, 'apiserver_request_total{verb="LIST",resource="pods"}', lambda value: value > 2)
        feed = PrometheusFeed(PrometheusConnection(url, context="prom"))
        live = LiveState()
        fold_all(live, await feed.start())
        await feed.close()
    assert live.history.span == PARTS
    listed = [rates.cache * PART for rates in live.history.per_second("pods")]
    sent = lists_sent("pods")["cache"]
    assert sum(listed) == pytest.approx(sent, rel=0.01)
    busy = [number for number, lists in enumerate(listed) if lists]
    assert PARTS / 2 - 4 <= busy[0] <= busy[-1] <= PARTS / 2 + 4  # 30 minutes ago, between two pages
    events = [rates.etcd * PART for rates in live.history.per_second("events")]
    assert sum(events) == pytest.approx(lists_sent("events")["etcd"], rel=0.01)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (whole(b"<html>"), "is not a Prometheus"),
        (whole(b'{"status":"error","error":"query timed out"}'), "answers: query timed out"),
        (whole(b"{}", status="401 Unauthorized"), "does not accept the credentials"),
        (
            whole(b'{"status":"success","data":{"resultType":"matrix","result":[]}}'),
            "no metrics of a kube-apiserver",
        ),
    ],
    ids=["html", "error", "401", "empty"],
)
async def test_what_is_no_use_is_one_sentence(answer: bytes, says: str) -> None:
    async with rude_server(lambda path, head: answer) as connection:
        feed = PrometheusFeed(PrometheusConnection(connection.url))
        with pytest.raises(ClientError, match=says):
            await feed.start()
        await feed.close()


async def test_credentials_and_headers_are_sent() -> None:
    heads: list[str] = []

    def answer(path: str, head: str) -> bytes:
        heads.append(head)
        return whole(b'{"status":"success","data":{"result":[]}}')

    async with rude_server(answer) as connection:
        for token, user, password in (("t", "", ""), ("", "u", "p")):
            made = PrometheusConnection(
                f"{connection.url}/workspaces/ws-1", token=token, username=user, password=password,
                extra_headers={"X-Scope-OrgID": "team"},
            )  # fmt: skip
            feed = PrometheusFeed(made)
            with pytest.raises(ClientError):
                await feed.start()
            await feed.close()
    assert heads[0].startswith("GET /workspaces/ws-1/api/v1/query_range?")
    assert all("x-scope-orgid: team" in head.lower() for head in heads)
    assert "authorization: bearer t" in heads[0].lower()
    assert "authorization: basic dtpw" in heads[-1].lower()


@pytest.mark.parametrize(
    ("families", "labels", "minor"),
    [
        ({"apiserver_storage_list_total"}, {}, 0),
        ({"apiserver_watch_cache_consistent_read_total"}, {}, 31),
        ({"apiserver_resource_objects"}, {}, 34),
        (set(), {"storage": "etcd"}, 37),
    ],
)
def test_the_minor_where_build_info_is_not_kept(
    families: set[str], labels: dict[str, str], minor: int
) -> None:
    assert inferred_minor([Sample("a", labels, 1.0)], families) == minor
