"""What follows from the counters of a request, and from runs in alternation."""

from typing import Any

import pytest

from ktui.client.measure import ApiRequest, next_page
from ktui.client.repeated_runs import alternate
from ktui.contract.events import RequestFinished
from ktui.core.lab.form import verb_of
from ktui.core.lab.measured import Measured, joined_route

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("route", "counters", "average", "processed"),
    [
        ("etcd", {"etcd_bytes": 9_000, "fetched": 3}, 1_000.0, 9_000),  # not counted twice
        ("cache,etcd", {"etcd_bytes": 9_000, "fetched": 3}, 1_000.0, 9_000),
        ("cache", {"etcd_bytes": 0, "fetched": 3}, 1_000.0, 3_000),
        ("cache", {"etcd_bytes": 70, "fetched": 3}, 1_000.0, 3_070),  # with its probe
        ("cache", {"etcd_bytes": 0, "fetched": 0}, 0.0, 0),
        ("cache", {"etcd_bytes": 0, "fetched": 3}, 0.0, None),  # of unknown size
        ("etcd", {"fetched": 3}, 1_000.0, 3_000),  # a real apiserver tells no bytes
        ("", {}, 0.0, None),
    ],
)
def test_bytes_processed(route: str, counters: dict[str, int], average: float, processed: int | None) -> None:
    measured = Measured("/api/v1/pods", route=route, counters=counters, average_bytes=average)
    assert measured.processed_bytes == processed


def test_amplification_is_unknown_of_an_empty_answer() -> None:
    measured = Measured("/", counters={"etcd_bytes": 500}, route="etcd")
    assert measured.amplification is None
    measured.body_bytes = 250
    assert measured.amplification == 2.0


def test_pages_add_up() -> None:
    measured = Measured("/api/v1/pods")
    page = RequestFinished(
        id=1, status=200, route="etcd", ms=1.0, etcd_keys=5, fetched=5, phases={"etcd": 2.0, "send": 0.5}
    )
    measured.add_account(page)
    measured.add_account(page)
    document = measured.document()
    assert document["etcd"]["keys"] == 10
    assert document["objects"]["fetched"] == 10
    assert document["ms"]["etcd"] == 4.0


def test_what_is_not_known_is_null() -> None:
    document = Measured("/api/v1/pods").document()
    assert document["etcd"] == {"rpcs": None, "keys": None, "bytes": None}
    assert document["seats"] is None


def test_routes_join() -> None:
    assert joined_route("", "cache") == "cache"
    assert joined_route("etcd", "cache") == "cache,etcd"
    assert joined_route("cache,etcd", "etcd") == "cache,etcd"


def test_the_next_page_names_no_revision() -> None:
    path = "/api/v1/pods?limit=5&resourceVersion=9&resourceVersionMatch=Exact&labelSelector=a%3Db"
    assert next_page(path, "tok/en") == "/api/v1/pods?limit=5&labelSelector=a%3Db&continue=tok%2Fen"


@pytest.mark.parametrize(
    ("path", "verb"),
    [
        ("/api/v1/pods", "LIST"),
        ("/api/v1/pods?watch=true", "WATCH"),
        ("/api/v1/namespaces/a/pods/b", "GET"),
        ("/version", "GET"),
    ],
)
def test_verbs(path: str, verb: str) -> None:
    assert verb_of(path) == verb


# Runs in alternation: their order, what counts, and what is not sent again.


class Recorder:
    """A target that answers with the number of the request."""

    def __init__(self, **statuses: int) -> None:
        self.asked: list[str] = []
        self._statuses = statuses

    async def measure(self, question: ApiRequest, keep: Any = None) -> Measured:
        self.asked.append(question.path)
        status = self._statuses.get(question.path, 200)
        return Measured(question.path, status=status, total_ms=float(len(self.asked)))


async def runs_of(target: Recorder, *paths: str) -> list[list[float]]:
    found = await alternate(target, [ApiRequest(path) for path in paths], 5)  # type: ignore[arg-type]
    return [[each.total_ms for each in runs] for runs in found]


async def test_the_first_round_warms_up_and_the_others_alternate() -> None:
    target = Recorder()
    first, second = await runs_of(target, "a", "b")
    assert target.asked == ["a", "b"] * 6
    assert (first, second) == ([3, 5, 7, 9, 11], [4, 6, 8, 10, 12])


async def test_an_error_is_not_repeated() -> None:
    target = Recorder(b=429)
    first, second = await runs_of(target, "a", "b")
    assert target.asked == ["a", "b", *["a"] * 5]
    assert (len(first), second) == (5, [2.0])


async def test_progress_is_reported_before_each_request() -> None:
    begun: list[tuple[int, int]] = []
    questions = [ApiRequest("a"), ApiRequest("b")]
    await alternate(Recorder(), questions, 1, lambda *at: begun.append(at))  # type: ignore[arg-type]
    assert begun == [(0, 0), (0, 1), (1, 0), (1, 1)]


async def test_no_round_follows_when_the_pairs_are_enough() -> None:
    target, seen = Recorder(), list[int]()

    def enough(found: list[list[Measured]]) -> bool:
        seen.append(len(found[0]))
        return len(found[0]) == 3

    found = await alternate(target, [ApiRequest("a"), ApiRequest("b")], 5, enough=enough)  # type: ignore[arg-type]
    assert seen == [1, 2, 3] and [len(runs) for runs in found] == [3, 3]
    assert target.asked == ["a", "b"] * 4
