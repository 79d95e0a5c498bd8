"""From lines to a report: counted once, routed by the rules, ranked, bounded."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

import msgspec
import pytest

from ktui.audit.build import Wish
from ktui.audit.deduplication import DeduplicatedTally
from ktui.audit.formats.log_record import LoggedRequest, SlowRequest
from ktui.audit.predictions import BY_BYTES, BY_TIME, Move
from ktui.audit.reading.streams import LongLine
from ktui.audit.report import GroupReport, Report
from ktui.audit.server_version import versions_from
from ktui.audit.tally import EXAMPLES, Tally
from ktui.contract.etcd_documents import PrefixChild
from ktui.core.prediction.sizes import ResourceSize, SizesError, parse_sizes, sizes_of
from ktui.kube import continuetoken
from ktui.kube.advice import advise
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import BehaviourError, behaviour_of

from .logs import MALFORMED, audit_event, copies, etcd_line, httplog, traffic

NOW = datetime(2026, 11, 20, tzinfo=UTC)
AT = int(datetime(2026, 8, 23, tzinfo=UTC).timestamp()) * 1_000_000
SIZES = {
    "pods": ResourceSize(100_000, 1_400_000_000),
    "namespaces": ResourceSize(100, 50_000),
    "nodes": ResourceSize(1000, 9_000_000),
}


def listed(uri: str = "/api/v1/pods", **changes: object) -> LoggedRequest:
    request = LoggedRequest("list", uri, "agent/1 x", "alice", AT, 10_000, 200)
    return msgspec.structs.replace(request, **changes)


def tally_of(lines: Iterable[bytes], **options: int) -> Tally:
    tally = Tally(NOW, **options)  # type: ignore[arg-type]
    tally.open_file("test.log")
    tally.feed(list(lines))
    return tally


def report_of(lines: Iterable[bytes], version: str = "1.30", **question: object) -> Report:
    return Wish(version, **question).report(tally_of(lines))  # type: ignore[arg-type]


def only(report: Report) -> GroupReport:
    (group,) = report.groups
    return group


def test_a_list_is_counted_once_and_its_latency_is_between_its_times() -> None:
    request = listed(took=123_000)
    group = only(report_of([audit_event(request, "RequestReceived"), audit_event(request)]))
    assert (group.count, group.client, group.user) == (1, "agent/1", "alice")
    assert group.latency and group.latency.max == 123.0
    assert group.errors == {}


@pytest.mark.parametrize(("starts", "ends", "expected"), [(3, 3, 3), (3, 0, 3), (0, 2, 2), (5, 2, 5)])
def test_a_watch_is_counted_once_whichever_of_its_ends_the_log_holds(
    starts: int, ends: int, expected: int
) -> None:
    watch = listed("/api/v1/pods?watch=1", verb="watch")
    started = msgspec.structs.replace(watch, done=False)
    lines = copies(audit_event(started), starts) + copies(audit_event(watch), ends)
    report = report_of(lines)
    assert only(report).count == report.requests.watch == expected


def test_a_watchs_life_is_no_cost() -> None:
    watch = listed("/api/v1/pods?watch=1", verb="watch", took=3_600_000_000)
    report = report_of([audit_event(watch), audit_event(listed(took=2000))])
    assert [group.verb for group in report.groups] == ["list", "watch"]
    assert report.ranked_by == BY_TIME


def test_errors_and_seats_are_told() -> None:
    lines = [httplog(LoggedRequest("LIST", "/api/v1/pods", "a/1", "", AT + n, 5, code, seats=n), 30)
             for n, code in enumerate((200, 429, 429, 504))]  # fmt: skip
    group = only(report_of(lines))
    assert group.errors == {"429": 2, "504": 1}
    assert group.seats and (group.seats.mean, group.seats.max) == (1.5, 3)


def test_rates_are_over_the_span_of_the_log() -> None:
    report = report_of([audit_event(listed(at=AT + n * 1_000_000)) for n in range(11)])
    assert report.span and report.span.seconds == 10
    assert report.span.first == "2026-08-23T00:00:00.000+00:00"
    assert only(report).per_second == pytest.approx(1.1)


URIS = [
    "/api/v1/pods",
    "/api/v1/pods?limit=500",
    "/api/v1/pods?resourceVersion=0",
    f"/api/v1/pods?limit=500&continue={continuetoken.encode(7, 'shop/web')}",
    "/api/v1/events",
    "/api/v1/namespaces/shop/pods/web",
    "/apis/example.com/v1/widgets?limit=5&resourceVersion=17",
    "/api/v1/pods?watch=1&resourceVersion=17",
    "/api/v1/pods?resourceVersion=5&resourceVersionMatch=Wrong",
]


@pytest.mark.parametrize("version", ["1.19", "1.30", "1.31", "1.34", "1.37"])
@pytest.mark.parametrize("uri", URIS)
def test_routes_are_those_of_the_rules(uri: str, version: str) -> None:
    request = parse_request(uri)
    line = audit_event(listed(uri, verb=request.verb))
    group = only(report_of([line], version))
    behaviour = behaviour_of(version)
    plan = predict(request, assumed_state(request), behaviour)
    assert group.route == ("none" if plan.error else plan.source.route)
    assert (group.reason_id, group.etcd_ops) == (plan.reason_id, plan.etcd_ops)
    versions = list(group.routes)
    assert (versions[0], versions[-1]) == (version, f"1.{NEWEST_MINOR}")
    assert [c.path for c in group.cheaper] == [
        a.path for a in advise(request, assumed_state(request), behaviour)
    ]


def test_the_sentence_counts_what_moves() -> None:
    lines = copies(audit_event(listed("/api/v1/pods")), 6)
    lines += copies(audit_event(listed("/api/v1/pods?resourceVersion=0")), 2)
    lines += [audit_event(listed(URIS[3]))] * 1 + [audit_event(listed("/api/v1/events"))] * 1
    report = report_of(lines)
    assert report.move == Move("1.30", "1.34", 0.7, None)
    assert report.summary == "1.30 → 1.34 moves 70% of your LIST requests from etcd to the cache"
    by_version = {row.version: row for row in report.versions}
    assert (by_version["1.30"].etcd, by_version["1.31"].etcd, by_version["1.34"].etcd) == (8, 2, 1)
    assert by_version["1.31"].moved_to_cache == 6


def test_bytes_move_too_where_sizes_are_known() -> None:
    lines = [audit_event(listed("/api/v1/pods")), audit_event(listed("/api/v1/pods?resourceVersion=0"))]
    report = report_of(lines, sizes=SIZES, sizes_from="a test")
    assert report.move and report.move.bytes_share == 0.5
    assert "(50% of their bytes, estimated)" in report.summary
    assert report.ranked_by == BY_BYTES
    assert report.versions[0].etcd_bytes == 1_400_000_000
    assert report.groups[0].route == "etcd"


@pytest.mark.parametrize(
    ("lines", "version", "text"),
    [
        ([], "1.30", "no request was found"),
        ([audit_event(listed("/api/v1/nodes/a", verb="get"))], "1.30", "hold no LIST"),
        ([audit_event(listed("/api/v1/nodes/a", verb="get")), b"?"], "1.30", "1 records could not"),
        ([audit_event(listed("/api/v1/pods?resourceVersion=0"))], "1.30", "none of your LIST requests"),
        ([audit_event(listed("/api/v1/events"))], "1.30", "no version after 1.30"),
        ([audit_event(listed("/api/v1/events"))], f"1.{NEWEST_MINOR}", "newest version known"),
    ],
)  # fmt: skip
def test_sentences_where_nothing_moves(lines: list[bytes], version: str, text: str) -> None:
    assert text in report_of(lines, version).summary


@pytest.mark.parametrize(
    ("uri", "version", "etcd", "touched"),
    [
        ("/api/v1/pods", "1.30", 1.4e9, 1.4e9),
        ("/api/v1/pods", "1.31", 0, 1.4e9),
        ("/api/v1/pods?limit=500", "1.30", 7e6, 7e6),
        ("/api/v1/pods?limit=500", "1.31", 0, 7e6),
        ("/api/v1/pods?limit=500&resourceVersion=0", "1.31", 0, 1.4e9),
        ("/api/v1/pods?limit=500&labelSelector=app%3Da", "1.30", 0.7e9, 0.7e9),
        ("/api/v1/pods?fieldSelector=spec.nodeName%3Dn", "1.30", 1.4e9, 1.4e9),
        ("/api/v1/pods?fieldSelector=spec.nodeName%3Dn&resourceVersion=0", "1.30", 0, 1.4e6),
        ("/api/v1/namespaces/a/pods", "1.30", 1.4e7, 1.4e7),
        ("/api/v1/namespaces/a/pods?resourceVersion=0", "1.29", 0, 1.4e9),
        ("/api/v1/namespaces/a/pods?resourceVersion=0", "1.30", 0, 1.4e7),
        ("/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dp", "1.30", 14_000, 14_000),
        ("/api/v1/namespaces/a/pods/p", "1.30", 14_000, 14_000),
        ("/api/v1/namespaces/a/pods/p?resourceVersion=0", "1.30", 0, 14_000),
        ("/api/v1/pods?watch=1&resourceVersion=0", "1.30", 0, 1.4e9),
        ("/api/v1/pods?watch=1&resourceVersion=4711", "1.30", 0, 0),
        ("/api/v1/pods?resourceVersion=5&resourceVersionMatch=Wrong", "1.30", 0, 0),
    ],
)
def test_estimates(uri: str, version: str, etcd: float, touched: float) -> None:
    verb = parse_request(uri).verb
    group = only(report_of(copies(audit_event(listed(uri, verb=verb)), 3), version, sizes=SIZES))
    assert group.estimated
    assert group.estimated.etcd_bytes_each == pytest.approx(etcd)
    assert group.estimated.touched_bytes_each == pytest.approx(touched)
    assert group.estimated.etcd_bytes == pytest.approx(3 * etcd)


def test_a_resource_of_unknown_size_has_no_estimate_and_comes_last() -> None:
    lines = [audit_event(listed("/api/v1/secrets", took=9_000_000)), audit_event(listed("/api/v1/pods"))]
    report = report_of(lines, sizes=SIZES)
    assert [group.resource for group in report.groups] == ["pods", "secrets"]
    assert report.groups[1].estimated is None


def test_without_any_size_the_ranking_is_by_time_and_says_so() -> None:
    lines = [audit_event(listed("/api/v1/secrets", took=9)), audit_event(listed("/api/v1/configmaps"))]
    for question, text in (
        ({}, "sizes are not known"),
        ({"sizes": SIZES, "sizes_from": "S"}, "S holds none"),
    ):
        report = report_of(lines, **question)
        assert [group.resource for group in report.groups] == ["configmaps", "secrets"]
        assert report.ranked_by == BY_TIME
        assert any(text in note for note in report.notes)


def test_advice_is_about_the_groups_own_request() -> None:
    uris = [f"/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-{n}" for n in (1, 2)]
    report = report_of(audit_event(listed(uri, agent=f"agent-{uri[-1]}")) for uri in uris)
    for group in report.groups:
        assert group.client[-1] == group.example[-1]
        assert all(f"node-{group.client[-1]}" in cheaper.path for cheaper in group.cheaper)
        assert group.cheaper


def slow(**changes: object) -> SlowRequest:
    request = SlowRequest(
        "apply", "range", "/registry/pods/", "/registry/pods0", 0, 0, AT, 900_000, 60_077, 602_251_227
    )
    return msgspec.structs.replace(request, **changes)


def test_slow_ranges_are_tied_to_the_requests_that_cause_them() -> None:
    lines = [audit_event(listed("/api/v1/pods")), audit_event(listed("/api/v1/pods?limit=500"))]
    lines += [
        audit_event(listed("/api/v1/pods?resourceVersion=0")),
        audit_event(listed("/api/v1/namespaces/a/pods")),
    ]
    lines += [etcd_line(slow()), etcd_line(slow(took=100_000, keys=5)), etcd_line(slow(limit=500, took=1))]
    lines += [etcd_line(slow(limit=10_000, took=1))]
    whole, page, fill = report_of(lines).etcd
    assert whole.probably == ("agent/1 LIST /api/v1/pods",)
    assert (whole.count, whole.max_keys, whole.max_bytes) == (2, 60_077, 602_251_227)
    assert page.probably == ("agent/1 LIST /api/v1/pods?limit=500",)
    assert fill.probably == ("an apiserver that fills (or, from 1.34 on, checks) its watch cache",)


def test_a_later_page_is_tied_to_a_continued_list() -> None:
    token = continuetoken.encode(17, "shop/web")
    paged = f"/api/v1/pods?limit=500&continue={token}"
    later = slow(key="/registry/pods/shop/web\\000", limit=500, revision=17)
    report = report_of(
        [audit_event(listed(paged)), audit_event(listed("/api/v1/pods?limit=500")), etcd_line(later)]
    )
    assert report.etcd[0].probably == (f"agent/1 LIST {paged}",)


def test_writes_have_no_reader_to_blame() -> None:
    write = slow(what="write", key="/registry/pods/shop/web", range_end="")
    (group,) = report_of(
        [audit_event(listed("/api/v1/namespaces/shop/pods/web", verb="get")), etcd_line(write)]
    ).etcd
    assert (group.what, group.probably) == ("write", ())


def test_malformed_lines_are_counted_and_the_first_of_each_kind_shown() -> None:
    report = report_of([*MALFORMED * 10, audit_event(listed())])
    assert (report.lines.malformed, report.lines.audit, report.lines.total) == (30, 1, 31)
    assert len(report.malformed) <= EXAMPLES
    assert {bad.line for bad in report.malformed} >= {1, 2, 3}
    assert all(len(bad.text) <= 1000 for bad in report.malformed)


def test_lines_add_up_whatever_they_are() -> None:
    lines = list(islice(traffic(3, malformed=0.2), 3000))
    counted = report_of(lines).lines
    assert counted.total == 3000
    assert counted.audit + counted.httplog + counted.etcd + counted.skipped + counted.malformed == 3000
    assert min(counted.audit, counted.httplog, counted.etcd, counted.malformed) > 0


def test_a_long_line_is_a_line() -> None:
    tally = tally_of([audit_event(listed())])
    event = audit_event(listed(id="other"), body='{"items":[]}')
    tally.feed(LongLine(event[:700], event[-300:]))
    tally.feed(LongLine(b"x" * 100, b"x"))
    report = Wish("1.30").report(tally)
    assert only(report).count == 2
    assert (report.lines.total, report.malformed[0].line) == (3, 3)


def test_a_flood_of_clients_is_bounded_and_told() -> None:
    lines = [audit_event(listed(agent=f"pod-{n}/1")) for n in range(500)]
    lines += copies(audit_event(listed(agent="steady/1")), 100)
    tally = tally_of(lines, most_groups=40)
    report = Wish("1.30").report(tally)
    assert report.groups_total <= 40
    assert report.requests.list == 600
    assert report.others.list + sum(g.count for g in DeduplicatedTally(tally).groups) == 600
    assert max(report.groups, key=lambda g: g.count).client == "steady/1"
    assert any("others" in note for note in report.notes)


def test_reads_of_what_is_not_stored_are_counted_apart() -> None:
    lines = [audit_event(listed(uri, verb="get")) for uri in ("/healthz", "/api/v1/namespaces/a/pods/p/log")]
    report = report_of(lines)
    assert report.requests.unrouted == 2
    assert report.groups == ()


def test_later_versions_keep_the_gates_that_they_know() -> None:
    chosen, *later = versions_from("1.30", {"ConsistentListFromCache": True})
    assert chosen.enabled("ConsistentListFromCache")
    assert [b.version for b in later] == [f"1.{minor}" for minor in range(31, NEWEST_MINOR + 1)]
    off = versions_from("1.30", {"ConsistentListFromCache": False})
    assert off[-1].enabled("ConsistentListFromCache"), "locked to true by then"
    with pytest.raises(BehaviourError):
        versions_from("1.30", {"NoSuchGate": True})


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"pods": 5}', b'{"pods": {"count": -1, "bytes": 2}}', b"\xff"]
)
def test_sizes_that_are_none(text: bytes) -> None:
    with pytest.raises(SizesError):
        parse_sizes(text)


def test_sizes_from_a_file_and_from_a_server() -> None:
    assert parse_sizes(b'{"pods": {"count": 2, "bytes": 28}}') == {"pods": ResourceSize(2, 28)}
    rows = [
        PrefixChild("/registry/pods/", "pods", 2, 20),
        PrefixChild("/old/pods/", "pods", 1, 8),
        PrefixChild("/registry/x", "", 9, 9),
    ]
    assert sizes_of(rows) == {"pods": ResourceSize(3, 28)}
    assert ResourceSize(0, 0).average == 0
