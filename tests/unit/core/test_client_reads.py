"""What clients' LISTs read, beside a server that reads on its own account: checks and own requests."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ktui.contract.events.live import ReplicaScrape, ResourceCounters, ResourceGauges, ResourceScrape
from ktui.core.live.live_state import LiveState, fold_all, routes_of
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.window import WHOLE

KNOWN = (
    "cache_lists", "cache_fetched", "cache_returned", "storage_lists", "etcd_fetched", "etcd_returned",
    "etcd_lists", "etcd_timed", "consistent_success", "consistent_failure", "lists", "list_errors",
    "list_rejected", "self_lists", "checks_ok", "checks_failed", "checks_errored", "initializations",
    "collection_deletes",
)  # fmt: skip


class Server:
    """Counts as a kube-apiserver 1.36 does: a LIST when it reads, a request or a check when it ends."""

    def __init__(self, objects: int = 2_500) -> None:
        self.objects = objects
        self.counts = dict.fromkeys(KNOWN, 0)
        self.live = LiveState()
        self.at = 0.0

    def more(self, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] += count

    def scrape(self, missing: tuple[str, ...] = (), seconds: float = 15.0) -> None:
        self.at += seconds
        counters: dict[str, Any] = {name: n for name, n in self.counts.items() if name not in missing}
        fold_all(
            self.live,
            [
                ResourceScrape(at=self.at, replica="1", resource="pods",
                               counters=ResourceCounters(**counters),
                               gauges=ResourceGauges(objects=self.objects, capacity=100, size_bytes=1000)),
                ReplicaScrape(at=self.at, replica="1", version="1.36", started=1.0),
            ],
        )  # fmt: skip

    def read_cache(self, returned: int | None = None) -> None:
        read = self.objects
        self.more(cache_lists=1, cache_fetched=read, cache_returned=read if returned is None else returned)

    def read_etcd(self, page: int = 10_000) -> None:
        self.more(storage_lists=1, etcd_fetched=page, etcd_returned=page, etcd_lists=1, etcd_timed=1)

    def read_pages(self) -> list[int]:
        whole, rest = divmod(self.objects, 10_000)
        return [10_000] * whole + [rest] * bool(rest or not whole)

    def check(self) -> None:
        self.read_cache()
        for page in self.read_pages():
            self.read_etcd(page)
        self.more(checks_ok=1)

    def restart(self) -> None:
        self.counts = dict.fromkeys(KNOWN, 0)

    @property
    def row(self) -> ResourceRoutes:
        found = routes_of(self.live, "pods")
        assert found is not None
        return found

    @property
    def clients(self) -> tuple[float | None, ...]:
        row = self.row
        return row.cache.lists, row.cache.fetched, row.etcd.lists, row.etcd.fetched


@pytest.mark.parametrize("objects", [0, 7, 10_000, 10_001, 45_000])
def test_checks_are_not_clients(objects: int) -> None:
    server = Server(objects)
    for _ in range(4):
        server.scrape()
        server.check()
    server.scrape()
    assert server.clients == (0, 0, 0, 0)
    assert (server.row.checks, server.row.check_objects) == (4, 4 * objects)
    assert server.row.check_lists == 4 * max(1, -(-objects // 10_000))
    assert server.live.history.parts[WHOLE] == {}


def test_clients_beside_checks_are_exact() -> None:
    server = Server()
    server.scrape()
    for _ in range(5):
        server.check()
        server.read_cache(returned=1)
        server.more(lists=1)
        server.read_etcd(500)
        server.more(lists=1)
        server.scrape()
    assert server.clients == (5, 5 * 2_500, 5, 5 * 500)
    assert server.row.cache.returned == 5


@pytest.mark.parametrize("clients", [False, True], ids=["idle", "with clients"])
@pytest.mark.parametrize("cut", range(7))
def test_a_check_that_scrapes_split(cut: int, clients: bool) -> None:
    """Wherever scrapes cut a check of four pages: no LIST is a client's that no client sent."""
    server = Server(35_000)

    def client() -> None:
        if clients:
            server.read_cache()
            server.more(lists=1)

    server.scrape()
    client()
    steps = [server.read_cache, *(lambda page=page: server.read_etcd(page) for page in server.read_pages())]
    for number, step in enumerate([*steps, lambda: server.more(checks_ok=1)]):
        if number == cut:
            server.scrape()
            assert server.clients == (clients, clients * 35_000, 0, 0)
        step()
    client()
    server.scrape()
    assert server.clients == (2 * clients, 2 * clients * 35_000, 0, 0)
    client()
    server.scrape()
    assert server.clients == (3 * clients, 3 * clients * 35_000, 0, 0)


@pytest.mark.parametrize("clients", [0, 1, 9])
def test_a_check_that_began_before_the_first_scrape(clients: int) -> None:
    server = Server(25_000)
    server.read_cache()
    server.read_etcd(10_000)
    server.scrape()
    server.read_etcd(10_000)
    server.read_etcd(5_000)
    server.more(checks_ok=1)
    for _ in range(clients):
        server.read_cache()
        server.more(lists=1)
    server.scrape()
    assert server.clients[0] == clients
    assert server.clients[2:] == (0, 0)
    server.check()
    server.read_cache()
    server.more(lists=1)
    server.scrape()
    assert server.clients[0] == clients + 1
    assert server.clients[2:] == (0, 0)


def test_a_request_that_ends_after_the_scrape_counts_when_it_has_ended() -> None:
    server = Server()
    server.scrape()
    server.read_cache()  # of a client, whose answer is still being written
    server.scrape()
    assert server.clients[:2] == (0, 0)
    server.more(lists=1)
    server.scrape()
    assert server.clients[:2] == (1, 2_500)


def test_lists_of_the_server_to_itself_are_not_clients() -> None:
    server = Server()
    server.scrape()
    server.read_cache()
    server.more(lists=1, self_lists=1, storage_lists=1, consistent_success=1)
    server.check()
    server.scrape()
    assert server.clients == (0, 0, 0, 0)
    assert (server.row.lists, server.row.success) == (0, 0)


def test_a_check_that_failed_to_compare_is_no_client() -> None:
    server = Server()
    server.scrape()
    for _ in range(3):
        server.read_cache()
        server.more(checks_errored=1)
        server.scrape()
    server.read_etcd(2_500)
    server.more(lists=1)
    server.scrape()
    assert server.clients == (0, 0, 1, 2_500)
    assert server.row.checks_errored == 3


def test_a_restart_between_two_scrapes_of_one_series() -> None:
    """As in Prometheus, where an instance keeps its name."""
    server = Server()
    server.scrape()
    for _ in range(3):
        server.check()
    server.scrape()
    server.restart()
    server.check()
    server.read_cache()
    server.more(lists=1)
    server.scrape()
    assert server.clients == (1, 2_500, 0, 0)


def test_without_counts_of_requests_nothing_falls_below_zero() -> None:
    server, hidden = Server(), ("lists", "list_errors", "list_rejected", "self_lists")
    server.read_cache()
    server.scrape(hidden)
    server.read_etcd(2_500)
    server.more(checks_ok=1)
    server.scrape(hidden)
    assert server.clients == (0, 0, 0, 0)
    server.check()
    server.read_cache()
    server.scrape(hidden)
    assert server.clients == (1, 2_500, 0, 0)


def test_what_no_api_serves_is_read_by_no_client() -> None:
    """`apiServerIPInfo`: each kube-apiserver lists the addresses of all every ten seconds."""
    server = Server()
    server.scrape()
    for _ in range(6):
        server.read_etcd(2)
        server.scrape()
    assert server.clients == (0, 0, 0, 0)


def test_a_deletion_of_a_collection_lists_it() -> None:
    server = Server()
    server.scrape()
    server.read_cache(returned=3)
    server.more(collection_deletes=1)
    server.read_cache()
    server.more(lists=1)
    server.scrape()
    assert server.clients == (2, 5_000, 0, 0)
    assert (server.row.lists, server.row.cache.returned) == (1, 2_503)


@pytest.mark.parametrize(("names", "collections"), [(1, 0), (3, 0), (1, 1), (2, 5)])
def test_lists_of_one_name_get_it_from_etcd(names: int, collections: int) -> None:
    server = Server()
    server.scrape()
    for _ in range(names):
        server.more(storage_lists=1, etcd_fetched=1, etcd_returned=1, etcd_timed=1, lists=1)
    for _ in range(collections):
        server.read_etcd(100)
        server.more(lists=1)
    server.more(storage_lists=1)  # the rare probe of the resource's size
    server.scrape()
    assert server.clients == (0, 0, names + collections, names + 100 * collections)


def test_a_server_without_checks_is_as_before() -> None:
    server, hidden = Server(), ("checks_ok", "checks_failed", "checks_errored")
    server.scrape(hidden)
    for _ in range(3):
        server.read_etcd(500)
        server.more(lists=1)
    server.scrape(hidden)
    assert server.clients == (0, 0, 3, 1_500)
    assert server.row.checks is None


@pytest.mark.parametrize("seed", range(20))
def test_random_loads_and_scrapes(seed: int) -> None:
    """Requests and checks in any order, cut by scrapes anywhere: LISTs are exact, and nothing decreases.

    The objects of a LIST of etcd that a scrape cuts off from its request may be taken for the server's.
    """
    chance = random.Random(seed)
    server, sent, before = Server(chance.choice((500, 9_999, 20_001))), [0, 0], (0.0,) * 4
    server.scrape()
    for _ in range(60):
        steps = chance.choice((
            [lambda: server.read_cache(), lambda: server.more(lists=1)],
            [lambda: server.read_etcd(500), lambda: server.more(lists=1)],
            [server.read_cache, *(lambda page=page: server.read_etcd(page) for page in server.read_pages()),
             lambda: server.more(checks_ok=1)],
        ))  # fmt: skip
        if len(steps) == 2:
            sent[steps[0].__code__.co_names[-1] == "read_etcd"] += 1
        for step in steps:
            step()
            if chance.random() < 0.3:
                server.scrape()
                now = tuple(value or 0.0 for value in server.clients)
                assert all(new >= old for new, old in zip(now, before, strict=True))
                before = now
    server.scrape()
    assert server.clients[:3] == (sent[0], sent[0] * server.objects, sent[1])
    assert sent[1] * 500 - 500 <= (server.clients[3] or 0) <= sent[1] * 500
