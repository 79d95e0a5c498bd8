"""Two idle kube-apiservers 1.36 over 13 minutes: what they read is their own, and nothing is to be changed.

The pages are those of five moments, with the families that ktui reads.
"""

from __future__ import annotations

import pytest

from ktui.cli.observe_text import print_report
from ktui.cli.printing import Printer
from ktui.client.metrics_page import Exposition
from ktui.core.live.findings import findings
from ktui.core.live.live_state import LiveState, all_routes, fold_all
from ktui.core.live.observe_document import report_document
from ktui.core.live.resource_routes import checks_of, checks_text
from ktui.core.live.window import WHOLE
from ktui.live.families import WANTED
from ktui.live.prometheus import PrometheusConnection, PrometheusFeed
from ktui.live.scraper import Scraper
from tests.unit.live.recorded import IDLE, Recorded, answers, serving

pytestmark = pytest.mark.anyio
CHECKS, OBJECTS = 197, 15_116  # of both replicas together


def judge(live: LiveState) -> None:
    for window in (None, 60.0):
        assert findings(live, window) == []
        for row in all_routes(live, window):
            assert not any((row.lists, row.served, row.fetched, row.returned, row.cluster_lists)), row
    assert live.history.parts[WHOLE] == {}


async def scraped() -> LiveState:
    live, at = LiveState(), [1_795_352_800.0]
    with serving(Recorded(file=IDLE)) as recorded:
        scraper = Scraper(recorded.connection, clock=lambda: at[0])
        fold_all(live, await scraper.start())
        for moment in range(len(answers(0, "/metrics", "admin", IDLE))):
            recorded.moment = moment
            fold_all(live, await scraper.scrape())
            judge(live)
            at[0] += 15
        await scraper.close()
    return live


async def test_nothing_is_a_clients_or_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    live = await scraped()
    document = report_document(live)
    assert document["verdict"].startswith("no LIST by clients in")
    assert document["findings"] == []
    found = document["consistency_checks"]
    assert (found["count"], found["objects"], found["failed"], found["errors"]) == (CHECKS, OBJECTS, 0, 0)
    assert found["share_of_etcd_reads"] == 1
    assert found["bytes"] == pytest.approx(79_500_000, rel=0.02)
    print_report(live, Printer(), 20)
    out = " ".join(capsys.readouterr().out.split())  # wrapped as the terminal is wide
    assert "consistency checks" in out
    assert "DetectCacheInconsistency=false would save each replica" in out
    assert "no findings" in out
    checks = checks_of(all_routes(live))
    assert checks is not None
    assert "197 consistency checks" in checks_text(checks)


async def test_the_same_by_prometheus() -> None:
    """As its range queries return them: raw counters by instance and time."""
    feed, live = PrometheusFeed(PrometheusConnection("http://127.0.0.1:1")), LiveState()
    moments: dict[float, dict[str, list[object]]] = {}
    for replica in (0, 1):
        instance = f"10.0.0.{replica}:6443"
        for number, (_, _, body) in enumerate(answers(replica, "/metrics", "admin", IDLE)):
            page = Exposition(WANTED)
            page.feed(body)
            moments.setdefault(1_795_352_800.0 + 60 * number, {})[instance] = list(page.samples)
            feed._families.setdefault(instance, set()).update(page.families)
    fold_all(live, await feed._pages(moments))  # type: ignore[arg-type]
    judge(live)
    checks = checks_of(all_routes(live))
    assert checks is not None
    assert (checks.checks, checks.etcd.fetched) == (CHECKS, OBJECTS)
