"""The cost of one group of the ranking, in words."""

from __future__ import annotations

from ktui.contract.events import AnyEvent
from ktui.core import reducer
from ktui.core.ranking.rank_lines import RankLines
from ktui.core.state import State
from ktui.tui.requests.ranking import spent_content
from tests.tui.reads import AT, asked, standing, watching


def figures(*events: AnyEvent) -> dict[str, str]:
    """The panel's lines by their first word."""
    state = State()
    reducer.apply(state, events)
    (line,) = RankLines().of(state)
    drawn = spent_content(line, 90, 30).plain.splitlines()
    return {row.split()[0]: " ".join(row.split()[1:]) for row in drawn}


def test_of_a_list() -> None:
    said = figures(*asked(1, cached_bytes=9_000, encoded_bytes=3_000, fetched=30, returned=10))
    assert said["processed"] == "9.0 kB 100% of all" and said["each"] == "9.0 kB 3.0× what it returned"
    assert said["objects"] == "30 scanned, 10 returned"


def test_of_a_watch_that_began_with_objects() -> None:
    said = figures(*watching(1), standing(1, at=AT + 1))
    assert said["processed"] == "9.0 kB 100% of all" and said["objects"] == "40 scanned, 30 returned"


def test_of_a_watch_from_a_revision_only_its_events_are_told() -> None:
    none = {"initial": 0, "initial_bytes": 0, "fetched": 0, "cached_bytes": 0}
    said = figures(*watching(1, "watch=1&resourceVersion=7"), standing(1, at=AT + 1, **none))
    assert said["processed"] == "nothing it started without initial objects"
    assert said["events"] == "30 sent to the client"
    assert not {"each", "from", "objects"} & set(said)
