"""What the audit's screens make of a report."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.phrases import changes
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.core.prediction.sizes import ResourceSize
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.versions import behaviour_of
from ktui.tui.audit.group_columns import every_route, explanation_of, group_lines, parameters, shape_runs
from ktui.tui.audit.versions_view import bytes_of, gates_of, moved_between, share_under, version_lines
from ktui.tui.charts.bars import by_route, stacked
from tests.unit.audit.logs import audit_event, copies, moment

AT = 1_787_475_354_330_000
SIZES = {"pods": ResourceSize(1_000, 14_000_000), "namespaces": ResourceSize(10, 9_000)}


def report_of(
    uris: dict[str, int], version: str = "1.30", sizes: dict[str, ResourceSize] | None = None
) -> Report:
    """`uris`: how often each was asked for."""
    tally = Tally(moment(AT))
    tally.open_file("log")
    for uri, count in uris.items():
        verb = "watch" if "watch=true" in uri else "list"
        tally.feed(copies(audit_event(LoggedRequest(verb, uri, "x/1", "u", AT, 2_000, 200)), count))
    return Wish(version, sizes=sizes or {}).report(tally)


@pytest.mark.parametrize(
    ("uri", "reads"),
    [
        ("/api/v1/pods", "LIST pods ?rv unset"),
        ("/api/v1/namespaces/a/pods?resourceVersion=0&limit=500", "LIST pods -n … ?rv=0 limit=500"),
        ("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "LIST pods ?nodeName=… rv unset"),
        ("/api/v1/pods?watch=true&resourceVersion=77", "WATCH pods ?rv=N"),
        (
            "/apis/apps/v1/deployments?resourceVersion=9&resourceVersionMatch=Exact",
            "LIST deployments ?rv=N match=Exact",
        ),
    ],
)
def test_a_shape_reads_in_one_line(uri: str, reads: str) -> None:
    group = report_of({uri: 1}).groups[0]
    assert "".join(text for text, _ in shape_runs(group)) == reads


def test_selectors_of_labels_keep_their_operators() -> None:
    group = report_of({"/api/v1/pods?labelSelector=app+in+(a,b),!gone": 1}).groups[0]
    assert parameters(group) == "!gone app in (…) rv unset"


def test_groups_are_measured_against_the_most_expensive() -> None:
    report = report_of({"/api/v1/pods": 6, "/api/v1/pods?resourceVersion=0": 3}, sizes=SIZES)
    first, second = group_lines(report)
    assert first.share == 1.0 and first.cost == 6 * 14_000_000  # what is read is not counted again
    assert second.cost == 3 * 14_000_000 and second.share == 0.5
    assert changes(first.group) == [("cache", "1.31")] and changes(second.group) == []


def test_versions_tell_their_flows_against_the_one_before() -> None:
    report = report_of({"/api/v1/pods": 3, "/api/v1/pods?resourceVersion=0": 1}, sizes=SIZES)
    lines = {line.version: line for line in version_lines(report)}
    assert list(lines) == [f"1.{minor}" for minor in range(19, NEWEST_MINOR + 1)]
    assert lines["1.31"].flows == (("etcd", "cache", 3),)
    assert [version for version, line in lines.items() if line.chosen] == ["1.30"]
    assert all(not line.flows for version, line in lines.items() if version != "1.31")
    assert lines["1.19"].before is None
    assert bytes_of(lines["1.30"].share) == (3 + 1) * 14_000_000


def test_without_a_list_there_are_no_versions() -> None:
    assert version_lines(report_of({"/api/v1/pods?watch=true&resourceVersion=77": 1})) == []


@pytest.mark.parametrize(("before", "after"), [("1.30", "1.31"), ("1.31", "1.30"), ("1.19", "1.37")])
def test_gates_are_named_in_both_directions_and_over_many_versions(before: str, after: str) -> None:
    report = report_of({"/api/v1/pods": 3})
    moved = moved_between(report, before, after)
    assert gates_of(moved, before, after, report) == ["ConsistentListFromCache"]


def test_shares_under_any_rules() -> None:
    report = report_of({"/api/v1/pods": 3, "/api/v1/pods?resourceVersion=0": 1})
    assert share_under(report, behaviour_of("1.30")) == (3, 4)
    assert share_under(report, behaviour_of("1.31")) == (0, 4)
    assert share_under(report, behaviour_of("1.31.2")) == (0, 4)
    assert share_under(report, behaviour_of("1.31", {"ConsistentListFromCache": False})) == (3, 4)


def test_the_walk_ends_where_the_report_says() -> None:
    report = report_of({"/api/v1/pods": 1, "/api/v1/pods?resourceVersion=0": 1, "/api/v1/pods?limit=500": 1})
    for group in report.groups:
        assert explanation_of(group, report).plan.source.route == group.route
        assert every_route(group)["1.30"] == group.route


@given(st.lists(st.floats(0, 1e15), min_size=3, max_size=3), st.integers(3, 80))
def test_a_stacked_bar_is_exactly_as_wide_as_asked(values: list[float], width: int) -> None:
    runs = stacked(by_route(*values), width)
    assert sum(len(text) for text, _ in runs) == width
    letters = {text[0] for text, _ in runs} - {" "}
    assert letters == {letter for letter, value in zip("EC!", values, strict=True) if value > 0}
