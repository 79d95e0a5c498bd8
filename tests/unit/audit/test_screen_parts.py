"""What the screens need of an audit besides its document: buckets, earlier versions, causes, reading."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.reading.files import Stopped, open_logs, read_logs, total_size
from ktui.audit.report import Report
from ktui.audit.server_version import settable
from ktui.audit.tally import Tally
from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.core.prediction.sizes import sizes_in_etcd
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.kube.gates import NEWEST_MINOR

from .logs import SLOW, audit_event, copies, etcd_line, moment

AT = 1_787_475_354_330_000
NOW = moment(AT)


def report_of(lines: list[bytes], version: str) -> Report:
    tally = Tally(NOW)
    tally.open_file("log")
    tally.feed(lines)
    return Wish(version).report(tally)


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=60))
def test_octaves_hold_every_duration_below_their_bound(durations: list[int]) -> None:
    histogram = LatencyHistogram()
    for micros in durations:
        histogram.add(micros)
    octaves = histogram.octaves()
    assert sum(count for _, count in octaves) == len(durations)
    bounds = [bound for bound, _ in octaves]
    assert bounds == [bounds[0] * 2**place for place in range(len(bounds))]
    below = 0
    for bound, count in octaves:
        expected = sum(below <= micros < bound for micros in durations)
        # A bucket's edge is a rounded logarithm: a duration right at it may be on either side.
        assert count == expected or any(micros in (below, bound) for micros in durations)
        below = bound


def test_nothing_counted_has_no_octave() -> None:
    assert LatencyHistogram().octaves() == []


def test_earlier_versions_are_told_beside_the_chosen_one_and_later_ones() -> None:
    lists = copies(audit_event(LoggedRequest("list", "/api/v1/pods", "x/1", "u", AT, 900, 200)), 5)
    report = report_of(lists, "1.31")
    assert [row.version for row in report.earlier] == [f"1.{minor}" for minor in range(19, 31)]
    assert [row.version for row in report.versions] == [f"1.{minor}" for minor in range(31, NEWEST_MINOR + 1)]
    assert {row.etcd for row in report.earlier} == {5}
    assert {row.moved_to_etcd for row in report.earlier} == {5}  # against the chosen one
    assert report.move is None  # only later versions are told to move anything
    group = report.groups[0]
    assert set(group.earlier_routes.values()) == {"etcd"} and set(group.routes.values()) == {"cache"}


def test_a_slow_range_names_the_ranks_of_its_causes() -> None:
    pages = audit_event(LoggedRequest("list", "/api/v1/pods?limit=500", "pager/1", "u", AT, 900, 200))
    other = audit_event(LoggedRequest("list", "/api/v1/nodes", "other/1", "u", AT, 9_000_000, 200))
    slow = etcd_line(msgspec.structs.replace(SLOW, at=AT))
    report = report_of([other, pages, slow], "1.30")
    ranks = {group.client: group.rank for group in report.groups}
    assert report.etcd[0].ranks == (ranks["pager/1"],)


def test_gates_that_a_version_does_not_let_be_set_are_left_out() -> None:
    assert settable("1.31", {"ConsistentListFromCache": False}) == {"ConsistentListFromCache": False}
    assert settable("1.37", {"ConsistentListFromCache": False}) == {}
    assert settable("1.19", {"ConsistentListFromCache": False}) == {}


# Reading.


def test_reading_tells_how_far_it_is_and_stops_when_told(tmp_path: Path) -> None:
    line = audit_event(LoggedRequest("list", "/api/v1/pods", "x/1", "u", AT, 900, 200)) + b"\n"
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(line * 3000)
    names = [str(tmp_path / name) for name in ("a.log", "b.log")]
    told: list[tuple[str, int]] = []
    with open_logs(names) as logs:
        assert total_size(logs) == 6000 * len(line)
        read_logs(logs, tally := Tally(NOW), lambda name, taken: told.append((name, taken)))
    assert tally.lines == 6000
    assert [taken for _, taken in told] == sorted(taken for _, taken in told)
    assert told[-1] == (names[1], 6000 * len(line))

    def stop(name: str, taken: int) -> None:
        raise Stopped

    with open_logs(names) as logs, pytest.raises(Stopped):
        read_logs(logs, tally := Tally(NOW), stop)
    assert 0 < tally.lines < 3000 + 1


def test_a_pipe_into_which_nothing_comes_can_be_stopped() -> None:
    reading, writing = os.pipe()
    heard = threading.Event()

    def stop(name: str, taken: int) -> None:
        heard.set()
        raise Stopped

    try:
        with open_logs(["-"], reading) as logs, pytest.raises(Stopped):
            assert total_size(logs) == 0
            read_logs(logs, Tally(NOW), stop)
    finally:
        os.close(reading)
        os.close(writing)
    assert heard.is_set()


# Sizes of a running server.


def test_sizes_are_asked_for_and_groups_of_prefixes_looked_into() -> None:
    def child(prefix: str, resource: str = "", leaf: bool = True) -> PrefixChild:
        return PrefixChild(prefix, resource, count=2, bytes=20, leaf=leaf)

    answers = {
        None: [child("/registry/pods/", "pods"), child("/registry/services/", leaf=False)],
        "/registry/services/": [child("/registry/services/specs/", "services")],
    }

    async def read(prefix: str | None) -> PrefixPage:
        return PrefixPage(7, answers[prefix])

    sizes = asyncio.run(sizes_in_etcd(read))
    assert {name: (size.count, size.bytes) for name, size in sizes.items()} == {
        "pods": (2, 20),
        "services": (2, 20),
    }
