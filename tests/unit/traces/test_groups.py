"""Traces in the groups of `ktui audit`: observed routes, joined with audit Events, weighted, in partials."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ktui.audit import partial_tally
from ktui.audit.build import Wish
from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.report import GroupReport, Report
from ktui.audit.tally import Tally
from tests.unit.traces.recorded import NOW, file

CACHED, FROM_ETCD = "1.36-default", "1.33-no-consistent-list"


def counted(*names: str, sampling: int = 1_000_000) -> Tally:
    tally = Tally(NOW, sampling=sampling)
    with open_logs(list(names)) as logs:
        read_logs(logs, tally, lambda *_: None)
    return tally


def report_of(tally: Tally) -> Report:
    return Wish("1.36").report(tally, 100)


def group_of(report: Report, **fields: object) -> GroupReport:
    (found,) = (
        group
        for group in report.groups
        if all(getattr(group, name) == value for name, value in fields.items())
    )
    return found


CILIUM = {
    "client": "cilium-agent/1.16", "verb": "list", "resource": "pods", "scope": "all", "selectors": (),
    "resource_version": "unset", "limit": 0,
}  # fmt: skip


def test_an_observed_route_takes_the_place_of_the_predicted_one() -> None:
    report = report_of(counted(file(FROM_ETCD, "otlp.jsonl.gz")))
    group = group_of(report, **CILIUM)
    assert (group.route, group.routes["1.36"]) == ("etcd", "cache")
    assert group.traced is not None
    assert (group.traced.etcd, group.traced.agree, group.traced.differ) == (1, 0, 1)
    assert report.traced is not None
    assert report.traced.differ > 10
    assert report.traced.probes == 0


def test_a_request_in_several_logs_counts_once_with_its_account_and_its_route() -> None:
    names = [file(CACHED, name) for name in ("apiserver.log.gz", "otlp.jsonl.gz", "audit.log.gz")]
    whole, events = report_of(counted(*names)), report_of(counted(names[-1]))
    assert whole.requests == events.requests
    assert whole.lines.traces == whole.lines.doubles > 15
    group = group_of(whole, **CILIUM)
    assert group.traced is not None
    assert (group.user, group.route, group.count) == ("kube-system/cilium", "cache", group.traced.count)
    assert (group.traced.scanned, group.traced.probes) == (8000, 1)
    assert whole.traced == report_of(counted(*reversed(names))).traced
    assert whole.traced is not None
    assert whole.traced.untold == 0  # klog's traces of the same requests add nothing


def test_spans_alone_are_groups_without_accounts() -> None:
    report = report_of(counted(file(CACHED, "otlp.jsonl.gz")))
    assert {group.user for group in report.groups} == {""}
    assert report.requests == report_of(counted(file(CACHED, "audit.log.gz"))).requests


def test_klog_traces_alone_give_routes_where_they_tell_them() -> None:
    report = report_of(counted(file(FROM_ETCD, "apiserver.log.gz")))
    assert report.traced is not None
    assert report.traced.etcd and report.traced.cache and report.traced.untold
    assert report.traced.scanned is None


@pytest.mark.parametrize("events", [False, True])
def test_sampled_traces_stand_for_others_unless_the_audit_log_has_these(events: bool) -> None:
    names = [file(CACHED, "otlp.jsonl.gz"), *([file(CACHED, "audit.log.gz")] if events else [])]
    plain, sampled = report_of(counted(*names)), report_of(counted(*names, sampling=10_000))
    times = 1 if events else 100
    assert sampled.requests.list == plain.requests.list * times
    assert group_of(sampled, **CILIUM).count == group_of(plain, **CILIUM).count * times
    assert any("count as 100 requests" in note for note in sampled.notes) is not events
    assert sampled.traced == plain.traced


def test_a_partial_keeps_traces() -> None:
    names = [file(CACHED, name) for name in ("otlp.jsonl.gz", "audit.log.gz")]
    merged = Tally(NOW)
    for name in names:
        partial_tally.add(merged, partial_tally.read(partial_tally.written(counted(name))))
    assert report_of(merged).traced == report_of(counted(*names)).traced
    assert report_of(merged).groups == report_of(counted(*names)).groups


def test_a_trace_in_two_files_counts_once() -> None:
    name = file(CACHED, "otlp.jsonl.gz")
    assert report_of(counted(name, name)).requests == report_of(counted(name)).requests


def test_what_cannot_be_read_is_in_the_notes(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    with gzip.open(file(CACHED, "otlp.jsonl.gz"), "rt") as lines:
        text = lines.read()
    text = text.replace('"name":"audit"', '"name":"x\\u001b[2J"')
    path.write_text(text.replace('"SerializeObject"', '"SerializeAnew"'))
    notes = " ".join(report_of(counted(str(path))).notes)
    assert "'SerializeAnew' (" in notes
    assert "\x1b" not in notes
