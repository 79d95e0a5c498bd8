"""Requests that stand in two logs of one apiserver count once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from ktui.audit.build import Wish
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from tests.unit.audit.logs import audit_event, httplog
from tests.unit.audit.test_report import NOW, listed

AT = listed().at


def both(count: int, minor: int = 30, **fields: object) -> tuple[list[bytes], list[bytes]]:
    """`count` requests, as audit Events and as httplog lines; the latter are written 300 µs later."""
    requests = [listed(at=AT + 400_000 * n, **fields) for n in range(count)]
    lines = [
        replace(each, verb="LIST", user="", seats=3, at=each.at + 300, took=each.took + 300)
        for each in requests
    ]
    if minor >= 22:
        requests = [replace(each, id=f"id-{n}") for n, each in enumerate(requests)]
        lines = [replace(each, id=f"id-{n}") for n, each in enumerate(lines)]
    return [audit_event(each) for each in requests], [httplog(each, minor) for each in lines]


def report_of(*files: Sequence[bytes], most_groups: int = 4096) -> Report:
    tally = Tally(NOW, most_groups=most_groups)
    for number, lines in enumerate(files):
        tally.open_file(f"file-{number}")
        tally.feed(list(lines))
    return Wish("1.30").report(tally)


@pytest.mark.parametrize("minor", [19, 22, 30], ids=["no ID", "ID", "ID and seats"])
@pytest.mark.parametrize("order", ["audit first", "httplog first", "mixed"])
def test_a_request_in_both_logs_counts_once(order: str, minor: int) -> None:
    events, lines = both(50, minor)
    if order == "mixed":
        files = [[each for pair in zip(events, lines, strict=True) for each in pair]]
    else:
        files = [events, lines] if order == "audit first" else [lines, events]
    report = report_of(*files)
    (group,) = report.groups
    assert (group.client, group.user, group.count) == ("agent/1", "alice", 50)
    assert report.requests.list == 50
    assert (report.lines.audit, report.lines.httplog, report.lines.doubles) == (50, 50, 50)
    assert (group.seats is not None) == (minor >= 24), "only httplog has seats"
    assert any("50 httplog lines stand for requests that are in the audit log" in n for n in report.notes)


def test_logs_that_overlap_in_part() -> None:
    events, lines = both(50)
    for files in ([events[:30], lines[20:]], [lines[20:], events[:30]]):
        report = report_of(*files)
        assert report.requests.list == 50
        assert report.lines.doubles == 10
        counts = {group.user: group.count for group in report.groups}
        assert counts == {"alice": 30, "": 20}


@pytest.mark.parametrize(
    "ids",
    [
        [f"{n:08x}-02e0-7240-e886-ca4f3be1264d" for n in range(5)],
        [f"36cf02e0-7240-4886-aa4f-{n:012x}" for n in range(5)],
        [f"{n:032x}" for n in range(5)],
        [
            "36cf02e0-7240-4886-aa4f-3be1264d0001",
            f"{7:032x}",
            "a client's own",
            "--" * 18,
            "-" * 28 + "0" * 8,
        ],
    ],
    ids=["first half", "second half", "no dashes", "mixed"],
)
def test_requests_of_the_same_moment_with_different_audit_ids_all_count(ids: list[str]) -> None:
    events = [audit_event(replace(listed(), id=each)) for each in ids]
    report = report_of([*events, *events[:2]])
    assert (report.requests.list, report.lines.duplicates) == (5, 2)
    assert report_of(*([each] for each in [*events, *events[:2]])).lines.duplicates == 2, "or one by one"


def test_logs_of_different_servers_all_count() -> None:
    events, _ = both(20)
    _, lines = both(20, 30, uri="/api/v1/nodes")
    report = report_of(events, lines)
    assert (report.requests.list, report.lines.doubles) == (40, 0)
    assert any("no request is in both" in note for note in report.notes)


def test_one_format_alone_says_nothing_of_doubles() -> None:
    events, _ = both(3)
    assert not any("httplog" in note for note in report_of(events).notes)


def test_the_same_request_asked_twice_is_two() -> None:
    """Without an ID: the same URI and agent in the same second, five times in each log."""
    request = listed()
    lines = [httplog(replace(request, verb="LIST", user="", at=AT + n), 20) for n in range(5)]
    report = report_of([audit_event(replace(request, id=f"{n}")) for n in range(5)], lines)
    assert (report.requests.list, report.lines.doubles) == (5, 5)
    report = report_of([audit_event(replace(request, id=f"{n}")) for n in range(3)], lines)
    assert (report.requests.list, report.lines.doubles) == (5, 3)


def test_errors_of_doubles_count_once() -> None:
    events, lines = both(8, code=429)
    report = report_of(lines[4:], events)
    assert [group.errors for group in report.groups] == [{"429": 8}]


def test_the_time_of_doubles_counts_once() -> None:
    """A group that only httplog has is ranked by the time that it shows."""
    events, lines = both(10)
    (alone,) = report_of(lines).groups
    (half,) = (group for group in report_of(events[:5], lines).groups if not group.user)
    assert half.count == 5
    assert half.latency is not None and alone.latency is not None
    assert half.latency.total == pytest.approx(alone.latency.total / 2)


def test_reads_of_what_is_not_stored_count_once_too() -> None:
    events, lines = both(6, uri="/healthz")
    assert report_of(events, lines).requests.unrouted == 6
    assert report_of(lines, events).requests.unrouted == 6


def test_a_watch_counts_once_and_learns_when_it_was_live() -> None:
    watch = listed("/api/v1/pods?watch=1", verb="watch", id="w")
    line = replace(watch, verb="WATCH", user="", init=12_000, seats=2)
    events = [audit_event(replace(watch, done=False)), audit_event(watch)]
    (group,) = report_of(events, [httplog(line, 30)]).groups
    assert group.count == 1
    assert group.init_latency is not None and group.init_latency.max == 12.0


def test_doubles_of_groups_that_were_folded_away_count_once() -> None:
    requests = [listed(agent=f"pod-{n}/1", id=f"{n}", at=AT + n) for n in range(400)]
    lines = [httplog(replace(each, verb="LIST", user=""), 30) for each in requests]
    events = [audit_event(each) for each in requests]
    for files in ([events, lines], [lines, events]):
        report = report_of(*files, most_groups=40)
        kept = sum(group.count for group in report.groups)
        assert report.requests.list == 400 and kept <= 400
        assert report.lines.doubles == 400
