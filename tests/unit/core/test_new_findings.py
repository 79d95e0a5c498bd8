"""Markers at new findings: once each, again when they are worse, come back, or last for hours."""

from __future__ import annotations

import pytest

from ktui.core.live import findings as module
from ktui.core.live.findings import ABSENT, OUTAGE, REPEATED, NewFindings
from ktui.core.live.live_state import LiveState
from ktui.core.live.resource_findings import Finding, Severity

NOW = 1_000.0
POLLED = Finding("polled", Severity.NOTICE, "secrets", "listed 7/min", "m", "a", 2.0)
WORSE = Finding("polled", Severity.WARNING, "secrets", "listed 70/min", "m", "a", 1.0)
OTHER = Finding("polled", Severity.NOTICE, "events", "listed 7/min", "m", "a", 9.0)


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """The findings there are."""
    found: list[Finding] = []
    monkeypatch.setattr(module, "findings", lambda live, seconds: found)
    return found


def texts(new: NewFindings, now: float) -> list[str]:
    return [marker.text for marker in new.markers(LiveState(), now)]


def test_each_finding_is_marked_once(present: list[Finding]) -> None:
    new = NewFindings()
    assert texts(new, NOW) == []
    present += [POLLED, OTHER]
    (first, second) = new.markers(LiveState(), NOW + 15)
    assert (first.at, first.text, first.severity, first.cost) == (
        NOW + 15, "notice: secrets: listed 7/min", 1, 2.0,
    )  # fmt: skip
    assert second.text == "notice: events: listed 7/min"
    assert texts(new, NOW + 30) == []
    assert (new.count, new.worst) == (2, second)


def test_a_more_severe_one_is_new_and_a_less_severe_one_is_not(present: list[Finding]) -> None:
    new = NewFindings()
    present.append(POLLED)
    texts(new, NOW)
    present[:] = [WORSE]
    assert texts(new, NOW + 1) == ["warning: secrets: listed 70/min"]
    assert new.worst is not None and new.worst.severity == 2
    present[:] = [POLLED]
    assert texts(new, NOW + 2) == []


def test_one_that_returns_after_a_while_is_new(present: list[Finding]) -> None:
    new = NewFindings()
    present.append(POLLED)
    texts(new, NOW)
    present.clear()
    texts(new, NOW + 10)
    present.append(POLLED)
    assert texts(new, NOW + ABSENT - 1) == []
    assert len(texts(new, NOW + 2 * ABSENT)) == 1


def test_one_that_lasts_is_marked_again_before_its_segment_is_deleted(present: list[Finding]) -> None:
    new = NewFindings()
    present.append(POLLED)
    found = [now for now in range(0, int(REPEATED) + 600, 60) if texts(new, float(now))]
    assert found == [0, int(REPEATED) + 60]


def test_one_cause_is_new_once_whatever_resource_it_names(present: list[Finding]) -> None:
    new = NewFindings()
    stalled = [
        Finding("slow-consistent-reads", Severity.WARNING, name, "400 ms", "m", "a")
        for name in ("pods", "nodes")
    ]
    for turn in range(4):
        present[:] = [stalled[turn % 2]]
        assert len(texts(new, NOW + turn)) == (turn == 0)


def test_a_time_without_figures_is_marked_and_critical_if_it_lasts() -> None:
    new = NewFindings()
    assert new.outage("", NOW) == []
    (first,) = new.outage("no server answers", NOW)
    assert (first.severity, first.text) == (2, "warning: kube-apiserver: no figures: no server answers")
    assert new.outage("no server answers", NOW + OUTAGE - 1) == []
    (second,) = new.outage("x" * 500, NOW + OUTAGE)
    assert (second.severity, second.text[:52]) == (3, "critical: kube-apiserver: no figures for 01:00: xxxx")
    assert len(second.text) < 260 and new.worst == second
    assert new.outage("no server answers", NOW + 10 * OUTAGE) == []
    assert new.outage("", NOW + 11 * OUTAGE) == []
    assert [marker.severity for marker in new.outage("again", NOW + 12 * OUTAGE)] == [2]
