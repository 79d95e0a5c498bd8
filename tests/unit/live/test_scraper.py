"""Scraping recorded replicas over real HTTP: every replica once, GETs only, and a sentence for what fails."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.live import ReplicaScrape
from ktui.core.live.live_state import LiveState, fold_all, routes_of
from ktui.live import replica_pool, samples, scraper
from ktui.live.scraper import Scraper
from ktui.tui.live.live_rows import replicas as replica_lines
from tests.unit.live.recorded import FIRST, LAST, MIDDLE, Answer, Recorded, lists_sent, metrics, serving

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Observed:
    """A scraper with what its events add up to."""

    def __init__(self, recorded: Recorded, token: str = "admin") -> None:
        self.recorded = recorded
        self.live = LiveState()
        self.at = 1_795_352_800.0
        self.scraper = Scraper(lambda: recorded.connection(token), clock=self._clock)

    def _clock(self) -> float:
        self.at += 0.001
        return self.at

    async def start(self) -> list[AnyEvent]:
        events = await self.scraper.start()
        fold_all(self.live, events)
        return events

    async def scrape(self, moment: int) -> None:
        self.recorded.moment = moment
        self.at += 15
        fold_all(self.live, await self.scraper.scrape())


async def observed(recorded: Recorded, *moments: int, token: str = "admin") -> Observed:
    found = Observed(recorded, token)
    try:
        await found.start()
        for moment in moments:
            await found.scrape(moment)
        fold_all(found.live, await found.scraper.dump())
    finally:
        await found.scraper.close()
    return found


async def test_both_replicas_are_found_though_they_began_at_the_same_time() -> None:
    with serving(Recorded()) as recorded:
        found = await observed(recorded, FIRST, LAST)
    assert len(found.live.replicas) == 2
    assert len({row.scrape.started for row in found.live.replicas.values()}) == 1
    for resource in ("pods", "services", "secrets", "configmaps", "events"):
        row = routes_of(found.live, resource)
        assert row is not None
        sent = lists_sent(resource)
        assert (row.cache.lists, row.etcd.lists) == (sent.get("cache", 0), sent.get("etcd", 0)), resource
    row = routes_of(found.live, "ciliumnodes.cilium.io")  # not there at the first scrape of one replica
    assert row is not None
    assert (row.cache.lists, row.list_rejected) == (lists_sent("ciliumnodes")["cache"], 2)


async def test_replicas_are_told_apart_where_no_connection_lasts() -> None:
    with serving(Recorded(closes=True)) as recorded:
        found = await observed(recorded, FIRST, LAST, LAST, LAST)
    assert len(found.live.replicas) == 2
    row = routes_of(found.live, "pods")
    assert row is not None
    assert row.cache.lists == lists_sent("pods")["cache"]


async def test_one_replica_stays_one_however_many_connections() -> None:
    with serving(Recorded(replicas=(0,))) as recorded:
        found = await observed(recorded, FIRST, LAST, LAST)
    assert len(found.live.replicas) == 1


async def test_only_gets_are_sent_and_they_say_who_sends_them() -> None:
    with serving(Recorded()) as recorded:
        found = await observed(recorded, FIRST, LAST)
    assert {method for method, _ in recorded.requests} == {"GET"}
    assert {path.partition("?")[0] for _, path in recorded.requests} == {
        "/version",
        "/readyz",
        "/metrics",
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
        "/debug/api_priority_and_fairness/dump_requests",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    }
    assert all(sent["User-Agent"].startswith("ktui/") for sent in recorded.headers)
    assert all("gzip" in sent["Accept-Encoding"] for sent in recorded.headers)
    assert found.live.status is not None
    assert found.live.status.requests == len(recorded.requests) - 2  # the dumps came later


async def test_the_first_events_say_which_server_it_is() -> None:
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        events = await found.start()
        await found.scraper.close()
    info = events[0]
    assert isinstance(info, ServerInfo)
    assert (info.etcd_kind, info.kube_version, info.name) == ("kube-apiserver", "1.36", "recorded")
    assert found.live.server is not None
    assert found.live.server.expected == 1  # both replicas are of one host, and share its Lease


async def test_a_restart_is_another_replica_and_no_rate_falls_below_zero() -> None:
    with serving(Recorded(replicas=(0,))) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(LAST)
        restarted = metrics(0, FIRST).replace(b"1.7953355047e+09", b"1.7953529000e+09")
        recorded.override = lambda _, path: (200, "text/plain", restarted) if path == "/metrics" else None
        await found.scrape(FIRST)
        await found.scraper.close()
    assert list(found.live.replicas) == ["1", "2"]
    row = routes_of(found.live, "pods")
    assert row is not None
    assert row.cache.lists == 0


@pytest.mark.parametrize("user", ["viewer", "nobody"])
async def test_what_may_not_be_read_is_named_with_its_rule(user: str) -> None:
    with serving(Recorded()) as recorded:
        found = await observed(recorded, FIRST, token=user)
    assert found.live.server is not None
    rules = {denied.path: denied.rule for denied in found.live.server.denied}
    assert rules["/metrics"] == "get on /metrics"
    assert found.live.replicas == {}
    assert found.scraper.problem == ""
    assert sum(path == "/metrics" for _, path in recorded.requests) == 1  # not asked for again at once


async def test_figures_come_though_the_dumps_are_denied() -> None:
    def override(replica: int, path: str) -> Answer | None:
        return (403, "application/json", b'{"message":"forbidden"}') if path.startswith("/debug") else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        fold_all(found.live, await found.scraper.dump())
        await found.scraper.close()
    assert found.live.server is not None
    assert [denied.rule for denied in found.live.server.denied] == [
        "get on /debug/api_priority_and_fairness/*"
    ]
    assert len(found.live.replicas) == 2


PAGE = metrics(0, FIRST)
BAD: dict[str, tuple[Answer, str]] = {
    "html": ((200, "text/html", b"<html>log in</html>"), "not Prometheus metrics"),
    "half a line": ((200, "text/plain", PAGE[: len(PAGE) // 2]), "cut off after"),
    "half a page": ((200, "text/plain", PAGE[: PAGE.index(b"\n", 9000) + 1]), "the page is incomplete"),
    "500": ((500, "text/plain", b"boom"), "500: boom"),
    "401": ((401, "application/json", b"{}"), "does not accept the credentials of context 'recorded'"),
    "empty": ((200, "text/plain", b""), "the answer is empty"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_page_is_a_sentence_and_the_next_good_one_ends_it(name: str) -> None:
    answer, says = BAD[name]
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        recorded.override = lambda _, path: answer if path == "/metrics" else None
        await found.scrape(FIRST)
        assert says in found.scraper.problem
        assert "\n" not in found.scraper.problem
        recorded.override = lambda _, path: None
        await found.scrape(LAST)
        await found.scraper.close()
    assert found.scraper.problem == ""
    assert len(found.live.replicas) == 2  # met again over new connections
    row = routes_of(found.live, "pods")
    assert row is not None
    assert row.cache.lists == lists_sent("pods")["cache"]


async def test_a_server_that_is_overloaded_is_scraped_less_often() -> None:
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        recorded.override = lambda _, path: (429, "text/plain", b"slow down") if path == "/metrics" else None
        await found.scrape(FIRST)
        assert found.live.status is not None
        assert found.live.status.interval == 30.0
        recorded.override = lambda _, path: None
        await found.scrape(FIRST)
        await found.scraper.close()
    assert found.live.status.interval == 15.0


async def test_one_slow_round_doubles_the_interval_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scraper, "SLOW_MS", 0.0)  # every page is slow
    intervals = []
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        for _ in range(8):
            await found.scrape(FIRST)
            assert found.live.status is not None
            intervals.append(found.live.status.interval)
        await found.scraper.close()
    assert intervals == [30.0, 30.0, 30.0, 30.0, 60.0, 120.0, 240.0, 240.0]
    assert len(recorded.requests) > 16  # several pages a round


@pytest.mark.parametrize("dumps", [True, False], ids=["dumps", "health"])
async def test_a_replica_that_does_not_answer_is_down(dumps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    silent: set[int] = set()
    ended = threading.Event()

    def override(replica: int, path: str) -> Answer | None:
        if replica in silent:
            ended.wait(60)
        return (403, "text/plain", b"no") if path.startswith("/debug") and not dumps else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        fold_all(found.live, await found.scraper.dump())
        assert len(found.live.present) == 2
        silent.add(1)  # the second that answered
        with monkeypatch.context() as brief:  # the first may be late too: nothing is said of it meanwhile
            brief.setattr(samples, "ANSWER_SECONDS", 0.2)
            found.at += 1
            fold_all(found.live, await found.scraper.dump())
            assert found.live.replicas["2"].down is not None
            (up,) = [line.uptime for line in replica_lines(found.live) if line.name == "2"]
            found.at += 20
            fold_all(found.live, await found.scraper.dump())
        (line,) = [line for line in replica_lines(found.live) if line.name == "2"]
        assert not line.present
        assert line.uptime == up  # it does not go on
        silent.clear()
        ended.set()
        await found.scrape(LAST)
        assert len(found.live.present) == 2
        await found.scraper.close()


async def test_a_page_that_hangs_is_down_while_the_others_are_scraped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replica_pool, "STALL_SECONDS", 1.0)
    monkeypatch.setattr(samples, "ANSWER_SECONDS", 60.0)  # for the other page, on a slow machine
    hanging: set[int] = set()
    ended = threading.Event()

    def override(replica: int, path: str) -> Answer | None:
        if replica in hanging and path == "/metrics":
            ended.wait(60)
        return None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        while len(found.live.replicas) < 2:
            await found.scrape(FIRST)
        hanging.add(1)
        row, other = found.live.replicas["2"], found.live.replicas["1"]
        scraping = asyncio.ensure_future(found.scraper.scrape())
        while row.down is None:  # its samples say it while the page is being read
            fold_all(found.live, await found.scraper.dump())
        assert row.down.reason == "no byte of /metrics for 5 s"
        fold_all(found.live, await scraping)
        began = found.at
        while other.scrape.at < began:  # the other one goes on
            await asyncio.sleep(0)  # a round that finds its page still stalled does not wait for it
            await found.scrape(MIDDLE)
        assert row.down is not None and other.down is None
        assert found.scraper.problem == ""
        hanging.clear()
        ended.set()
        await found.scrape(LAST)
        while len(found.live.present) < 2:  # the page that was late
            await asyncio.sleep(0)
            await found.scrape(LAST)
        await found.scraper.close()
    assert len(found.live.replicas) == 2


async def test_a_server_that_sends_no_byte_of_its_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_pool, "STALL_SECONDS", 1.0)
    ended = threading.Event()

    def override(replica: int, path: str) -> Answer | None:
        if path == "/metrics":
            ended.wait(60)
        return None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        assert "sends no byte of /metrics" in found.scraper.problem
        ended.set()
        while len(found.live.present) < 2:
            await asyncio.sleep(0)  # a round that finds the page still stalled does not wait for it
            await found.scrape(FIRST)
        await found.scraper.close()
    assert found.scraper.problem == ""


async def test_a_page_that_never_arrives_is_given_up_and_read_on_another_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replica_pool, "STALL_SECONDS", 1.0)
    monkeypatch.setattr(replica_pool, "GIVEN_UP_SECONDS", replica_pool.STALL_SECONDS)  # when it stalls
    ended, hanging = threading.Event(), threading.Lock()

    def override(replica: int, path: str) -> Answer | None:
        if path == "/metrics" and hanging.acquire(blocking=False):  # the first page only
            ended.wait(60)
        return None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        assert "sends no byte of /metrics" in found.scraper.problem
        assert not found.live.present
        for limit in ("STALL_SECONDS", "GIVEN_UP_SECONDS"):  # the others' pages are waited for
            monkeypatch.setattr(replica_pool, limit, 60.0)
        await found.scrape(FIRST)
        await found.scraper.close()
        ended.set()
    assert len(found.live.present) == 2
    assert found.scraper.problem == ""


async def test_one_replica_that_breaks_does_not_blind_the_other() -> None:
    broken: set[int] = set()

    def override(replica: int, path: str) -> Answer | None:
        return (200, "text/html", b"<html>") if replica in broken and path == "/metrics" else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        await found.start()
        await found.scrape(FIRST)
        broken.add(1)
        await found.scrape(LAST)
        assert found.scraper.problem == ""
        (down,) = [row.down for row in found.live.replicas.values() if row.down is not None]
        assert "not Prometheus metrics" in down.reason
        broken.clear()
        await found.scrape(LAST)
        await found.scraper.close()
    assert len(found.live.present) == len(found.live.replicas) == 2


async def test_a_refresh_does_not_wait_for_the_interval() -> None:
    with serving(Recorded()) as recorded:
        found = Observed(recorded)
        await found.start()
        scrapes = 0
        async with asyncio.timeout(60):
            async for events in found.scraper.batches():
                scrapes += sum(isinstance(event, ReplicaScrape) for event in events)
                if scrapes == 2:
                    found.scraper.refresh()
                if scrapes == 4:
                    break
        await found.scraper.close()
    assert scrapes == 4


async def test_a_server_that_is_gone_is_a_sentence_at_the_start() -> None:
    with serving(Recorded()) as recorded:
        pass
    with pytest.raises(ClientError, match="no server answers at"):
        await Observed(recorded).start()


async def test_what_is_no_kube_apiserver_is_said_at_the_start() -> None:
    page = (200, "application/json", b'{"gitVersion":"v1"}')
    with (
        serving(Recorded(override=lambda _, path: page)) as recorded,
        pytest.raises(ClientError, match="not a kube-apiserver"),
    ):
        await Observed(recorded).start()


async def test_a_failing_readiness_check_is_named() -> None:
    page = (500, "text/plain", b"[+]ping ok\n[-]etcd failed: reason withheld\n")
    with serving(Recorded(override=lambda _, path: page if "readyz" in path else None)) as recorded:
        found = await observed(recorded, FIRST)
    assert found.live.server is not None
    assert found.live.server.not_ready == ["etcd"]


async def test_credentials_that_expire_are_read_again() -> None:
    """As an exec plugin renews them: each connection reads the kubeconfig."""
    tokens = ["new", "old"]

    def override(replica: int, path: str) -> Answer | None:
        token = recorded.headers[-1].get("Authorization", "")
        expired = path == "/metrics" and token == "Bearer old"
        return (401, "application/json", b"{}") if expired else None

    with serving(Recorded(override=override)) as recorded:
        found = Observed(recorded)
        found.scraper = Scraper(lambda: recorded.connection(tokens.pop()), clock=found._clock)
        await found.start()
        await found.scrape(FIRST)
        assert "does not accept the credentials" in found.scraper.problem
        await found.scrape(FIRST)
        await found.scraper.close()
    assert found.scraper.problem == ""
    assert len(found.live.replicas) == 2
