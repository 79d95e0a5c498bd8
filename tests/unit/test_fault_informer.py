"""An informer of the fault checker: what it may miss by the nature of a resourceVersion, and what not."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tools.faults import watchers
from tools.faults.history import Change, History
from tools.faults.objects import Mark, Selection
from tools.faults.records import Records, Seen, Violations, Watched
from tools.faults.watchers import Informer
from tools.faults.workload import Workload

A, B = "/registry/pods/a/o1", "/registry/pods/a/o2"


def informer(history: History) -> tuple[Informer, Violations]:
    """One that has listed A and B at revision 2, and watches everything."""
    violations = Violations()
    load = SimpleNamespace(history=history, violations=violations, random=random.Random)
    made = Informer(cast(Workload, cast(Any, load)), "informer")
    made.selection = Selection("pods")
    made.state = {A: (1, "m#1#red##"), B: (2, "m#2#red##")}
    made.rv = 2
    return made, violations


def history_with_one_transaction() -> History:
    """A changes and B goes in one revision; then B comes again."""
    history = History()
    for revision, key, mark in (
        (1, A, Mark(1, "red")),
        (2, B, Mark(2, "red")),
        (3, A, Mark(3, "red")),
        (3, B, None),
        (4, B, Mark(4, "red")),
    ):
        history.add(Change(revision, key, mark))
    return history


def resume(one: Informer) -> None:
    if one._shown is not None:
        one._resumes.append((one.rv, frozenset(one._shown)))


def test_the_rest_of_a_transaction_is_excused_when_the_stream_broke_within_it() -> None:
    one, violations = informer(history_with_one_transaction())
    one._apply(Seen("MODIFIED", A, 3, "m#3#red##"), "")
    resume(one)
    one._apply(Seen("ADDED", B, 4, "m#4#red##"), "")
    assert one.check() == 1 and not violations.all and one.agrees(one._load.history)


def test_a_lost_event_is_not() -> None:
    one, violations = informer(history_with_one_transaction())
    one._apply(Seen("MODIFIED", A, 3, "m#3#red##"), "")
    one._apply(Seen("ADDED", B, 4, "m#4#red##"), "")  # the same stream: it cannot have broken in between
    assert one.check() == 0 and list(violations.kinds) == ["an informer's event does not fit its state"]


def test_after_a_bookmark_nothing_of_its_revision_is_excused() -> None:
    one, violations = informer(history_with_one_transaction())
    one._apply(Seen("MODIFIED", A, 3, "m#3#red##"), "")
    one._apply(Seen("BOOKMARK", "", 3), "")
    resume(one)
    one._apply(Seen("ADDED", B, 4, "m#4#red##"), "")
    assert one.check() == 0 and violations.kinds.total() == 1


def test_a_state_that_differs_elsewhere_does_not_agree() -> None:
    history = history_with_one_transaction()
    one, _ = informer(history)
    one._apply(Seen("MODIFIED", A, 3, "m#3#red##"), "")
    resume(one)
    history.add(Change(5, A, Mark(5, "red")))
    assert not one.agrees(history)


@pytest.mark.parametrize(("complete", "excused"), [(True, 0), (False, 1)])
def test_a_stream_that_the_server_ended_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch, complete: bool, excused: int
) -> None:
    one, violations = informer(history_with_one_transaction())
    one._load.records = Records()
    streams = iter([[Seen("MODIFIED", A, 3, "m#3#red##")], [Seen("ADDED", B, 4, "m#4#red##")]])

    async def follow(_: Workload, watched: Watched, __: list[str]) -> None:
        watched.events += next(streams)
        watched.complete = complete

    monkeypatch.setattr(watchers, "follow", follow)

    async def run() -> None:
        for _ in range(2):
            await one._watch()

    asyncio.run(run())
    assert one.check() == excused
    assert violations.kinds.total() == 1 - excused
