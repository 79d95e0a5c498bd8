"""How long rejected clients should wait; plain limits of requests in flight."""

from __future__ import annotations

import pytest

from ktui.apiserver.chain import Rejected, Ticket
from ktui.flowcontrol.controller import MaxInFlight
from ktui.flowcontrol.levels import LONGEST, RetryAfter
from ktui.kube.flow_schemas import classify
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import MASTERS, Requester


def test_the_wait_grows_while_rejections_go_on_and_shrinks_after() -> None:
    tracker = RetryAfter()
    assert tracker.rejected(1) == 1
    told = []
    for second in range(2, 120):
        told.append([tracker.rejected(second) for _ in range(100)][-1])
    assert max(told) == LONGEST
    assert told == sorted(told)
    for second in range(200, 400, 5):
        tracker.rejected(second)
    assert tracker.seconds < LONGEST


def test_few_rejections_change_nothing() -> None:
    tracker = RetryAfter()
    assert {tracker.rejected(second) for second in range(1, 200, 3)} == {1}


def ticket(verb: str, *groups: str) -> Ticket:
    who, asked = Requester("jane", groups), RequestAttributes(verb, "", "pods")
    return Ticket(classify(who, asked, 19), who, asked, 0)


def test_reads_and_writes_are_counted_apart() -> None:
    limits = MaxInFlight(1, 1)
    reading, writing, masters = ticket("list"), ticket("create"), ticket("list", MASTERS)
    limits.enter(reading)
    with pytest.raises(Rejected):
        limits.enter(ticket("get"))
    limits.enter(writing)
    with pytest.raises(Rejected):
        limits.enter(ticket("delete"))
    limits.enter(ticket("watch"))  # not counted
    limits.enter(masters)
    for entered in (masters, reading, reading, writing):
        entered.leave()
    assert limits.in_flight == {False: 0, True: 0}
