"""Which reads are ranked, and which requests are one row."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ktui.contract.events import AnyEvent
from ktui.core.ranking.rank_lines import ALL_NAMESPACES, ROLL_UPS, RankLines
from ktui.core.ranking.ranking import Group
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.kube import continuetoken
from tests.tui.reads import asked

TOKEN = continuetoken.encode(1000, "default/web-1")
LATEST = continuetoken.encode(-1, "default/web-1")


def ranked(*events: Iterable[AnyEvent]) -> list[Group]:
    state = State()
    for each in events:
        apply(state, list(each))
    return state.ranking.ranked()


def test_ktuis_own_requests_are_not_ranked() -> None:
    begun, ended = asked(1, fetched=10, cached_bytes=9_000)
    own = [replace(begun, user_agent="ktui/0.9"), ended]
    assert ranked(own) == []
    assert len(ranked([begun, ended])) == 1


def test_what_was_only_refused_is_not_ranked() -> None:
    """A cache that is being filled (429), a resource that is not there yet (404)."""
    early = [asked(1, status=429), asked(2, status=404)]
    assert ranked(*early) == []
    (group,) = ranked(*early, asked(3, cached_bytes=9_000), asked(4, status=429))
    assert (group.count, group.failed) == (2, 1), "of a client that was answered before it counts"
    assert len(ranked(asked(1, status=500))) == 1


def test_a_paged_list_is_one_row() -> None:
    first = asked(1, query="limit=100", cached_bytes=10)
    pages = [asked(2 + n, query=f"limit=100&continue={token}", cached_bytes=10)
             for n, token in enumerate((TOKEN, LATEST, TOKEN))]  # fmt: skip
    (group,) = ranked(first, *pages)
    assert (group.count, group.cost) == (4, 40)
    assert (group.key.shape.limit, group.key.shape.continued) == (100, "")


def test_pages_stay_with_the_first_page_that_they_follow() -> None:
    selected = asked(1, query="limit=100&labelSelector=app%3Dweb")
    exact = asked(2, query="limit=100&resourceVersion=77&resourceVersionMatch=Exact")
    page = asked(3, query=f"limit=100&continue={TOKEN}")
    groups = {
        group.key.shape.match: group.count
        for group in ranked(selected, exact, page)
        if not group.key.shape.selectors
    }
    assert groups == {"Exact": 2}


def test_pages_without_their_first_one_are_one_row_too() -> None:
    (group,) = ranked(*(asked(n, query=f"limit=100&continue={TOKEN}") for n in range(3)))
    assert (group.count, group.key.shape.continued) == (3, "")


def test_reads_roll_up_by_client_resource_and_namespace() -> None:
    state = State()
    for number, (client, path, size) in enumerate(
        [
            ("exporter", "/api/v1/pods", 50),
            ("exporter", "/api/v1/secrets", 20),
            ("kubelet", "/api/v1/pods", 10),
            ("kubelet", "/api/v1/namespaces/shop/pods", 5),
        ]
    ):
        begun, ended = asked(number, path, client=client, cached_bytes=size)
        namespace = "shop" if "/shop/" in path else ""
        apply(state, [replace(begun, namespace=namespace), ended])
    found = {
        by: [
            (line.name, line.spent.processed_bytes, line.folded) for line in RankLines().rolled_up(state, by)
        ]
        for by in ROLL_UPS[1:]
    }
    assert found == {
        "client": [("exporter", 70, 2), ("kubelet", 15, 2)],
        "resource": [("pods", 65, 3), ("secrets", 20, 1)],
        "namespace": [(ALL_NAMESPACES, 80, 0), ("shop", 5, 0)],
    }
    kept = RankLines()
    assert kept.rolled_up(state, "client")[0] is kept.rolled_up(state, "client")[0]
