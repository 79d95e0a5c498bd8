"""Lines of all formats: what is written is read again, and nothing that is read can crash."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ktui.audit.formats import auditlog
from ktui.audit.formats.log_record import LoggedRequest, Malformed, Skip, Skips, SlowRequest
from ktui.audit.formats.record_reader import TraceReader, line_reader

from .logs import audit_event, etcd_line, httplog

NOW = datetime(2026, 11, 20, tzinfo=UTC)
NEWEST = int(NOW.timestamp()) * 1_000_000
YEAR = 360 * 86_400_000_000
read = line_reader(NOW, TraceReader())

# What JSON and Go can both write: no half surrogate pairs.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
uris = st.one_of(
    texts.map(lambda text: "/api/v1/pods?" + text),
    st.sampled_from(["/api/v1/pods", "/apis/apps/v1/deployments?limit=500&continue=abc"]),
)
times = st.integers(NEWEST - YEAR, NEWEST)
took = st.one_of(st.integers(0, 10_000), st.integers(0, 86_400_000_000))
codes = st.one_of(st.just(-1), st.integers(100, 599))
audited = st.builds(
    LoggedRequest,
    verb=st.sampled_from(["get", "list", "watch"]),
    uri=uris,
    agent=texts,
    user=texts,
    at=times,
    took=took,
    code=codes,
    done=st.booleans(),
    id=st.uuids().map(str),
)
versions = st.integers(19, 37)
keys = st.from_regex(r"/[a-z0-9./-]{0,30}", fullmatch=True)
slow_ranges = st.builds(
    SlowRequest,
    source=st.sampled_from(["apply", "stats"]),
    what=st.just("range"),
    key=keys,
    range_end=keys | st.just(""),
    limit=st.integers(0, 10_000),
    revision=st.integers(0, 1 << 60),
    at=times,
    took=took,
    keys=st.integers(0, 1 << 40),
    size=st.integers(0, 1 << 40),
)


@given(audited)
def test_audit_events_are_read_as_they_were_written(request: LoggedRequest) -> None:
    assert read(audit_event(request)) == request


@given(audited)
def test_the_order_of_an_events_fields_does_not_matter(request: LoggedRequest) -> None:
    event = json.loads(audit_event(request))
    backwards = json.dumps(dict(reversed(event.items())))
    assert read(backwards.encode()) == request


@st.composite
def logged(draw: st.DrawFn) -> tuple[LoggedRequest, int]:
    """A request with what its version writes, and the version."""
    minor = draw(versions)
    request = LoggedRequest(
        verb=draw(st.sampled_from(["GET", "LIST", "WATCH"])) if minor >= 22 else "GET",
        uri=draw(uris),
        agent=draw(texts),
        user="",
        at=draw(times),
        took=draw(took),
        code=draw(codes),
        seats=draw(st.integers(0, 100)) if minor >= 24 else -1,
        init=draw(st.integers(-1, 10_000_000)) if minor >= 23 else -1,
        id=str(draw(st.uuids())) if minor >= 22 else "",
    )
    return request, minor


@given(logged())
def test_httplog_lines_are_read_as_every_version_wrote_them(case: tuple[LoggedRequest, int]) -> None:
    request, minor = case
    found = read(httplog(request, minor))
    assert isinstance(found, LoggedRequest)
    assert replace(found, spent=None) == request
    assert (found.spent is not None) == (request.took > 500_000 and minor >= 24 and request.seats >= 0)


@given(slow_ranges)
def test_etcd_lines_are_read_as_they_were_written(slow: SlowRequest) -> None:
    assert read(etcd_line(slow)) == slow


@pytest.mark.parametrize("what", ["txn", "write"])
def test_etcd_complains_of_transactions_and_writes_too(what: str) -> None:
    slow = SlowRequest("apply", what, "/registry/pods/shop/web-0", "", 0, 0, NEWEST, 150_000, -1, 812, True)
    assert read(etcd_line(slow)) == slow


@given(
    st.one_of(
        st.binary(max_size=300),
        st.builds(bytes.__add__, st.just(b'{"auditID":'), st.binary()),
        st.builds(
            bytes.__add__, st.just(b'I0823 08:55:54.330840 1 httplog.go:1] "HTTP" verb="'), st.binary()
        ),
        st.builds(bytes.__add__, st.just(b'{"msg":"request stats",'), st.binary()),
    )
)
def test_any_bytes_are_read_or_malformed(line: bytes) -> None:
    try:
        read(line)
    except Malformed as why:
        assert str(why)


@given(
    st.one_of(audited.map(audit_event), logged().map(lambda c: httplog(*c)), slow_ranges.map(etcd_line)),
    st.data(),
)
def test_lines_that_break_off_or_are_damaged_are_read_or_malformed(line: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(line)))
    damaged = line[:cut] + data.draw(st.binary(max_size=4)) + line[cut + data.draw(st.integers(0, 9)) :]
    for spoilt in (line[:cut], damaged):
        try:
            read(spoilt)
        except Malformed as why:
            assert str(why)


EXAMPLE = (
    b'I0823 08:55:54.330840       1 httplog.go:132] "HTTP" verb="GET" '
    b'URI="/api/v1/namespaces/default/configmaps/nginx-cfgmap" latency="1.926865ms" '
    b'userAgent="kubelet/v1.28.0 (linux/amd64) kubernetes/855e7c4" audit-ID="36cfcbe3" '
    b'srcIP="192.168.228.2:59052" apf_pl="system" apf_fs="system-nodes" apf_iseats=1 apf_fseats=0 '
    b'apf_additionalLatency="0s" apf_execution_time="1.269527ms" resp=200'
)


def test_a_real_httplog_line() -> None:
    request = read(EXAMPLE)
    assert isinstance(request, LoggedRequest)
    assert (request.took, request.code, request.seats) == (1927, 200, 1)
    assert request.agent == "kubelet/v1.28.0 (linux/amd64) kubernetes/855e7c4"
    assert datetime.fromtimestamp(request.at / 1e6, UTC) == datetime(2026, 8, 23, 8, 55, 54, 330840, UTC)


@pytest.mark.parametrize(
    "prefix",
    [b"2026-08-23T08:55:54.330840123Z stderr F ", b"Aug 23 08:55:54 cp1 kube-apiserver[812]: "],
)
def test_what_a_container_runtime_or_journal_puts_before_a_line_is_skipped(prefix: bytes) -> None:
    assert read(prefix + EXAMPLE) == read(EXAMPLE)


def test_a_stack_trace_over_several_lines_does_no_harm() -> None:
    lines = [EXAMPLE.replace(b"resp=200", b"resp=500 statusStack=<"), b"\tgoroutine 1 [running]:", b" >"]
    failed, *trace = map(read, lines)
    assert isinstance(failed, LoggedRequest)
    assert failed.code == 500
    assert trace == [Skips.BLANK, Skips.BLANK]
    check = read(b"[-]poststarthook/rbac/bootstrap-roles failed: not finished")
    assert isinstance(check, Skip)


def test_a_streaming_list_says_when_its_initial_events_were_sent() -> None:
    line = EXAMPLE.replace(
        b"apf_iseats=1", b'apf_init_latency="2ms" apf_iseats=1 watchlist_init_latency="1.5s"'
    )
    request = read(line)
    assert isinstance(request, LoggedRequest)
    assert request.init == 1_500_000


def test_a_client_cannot_write_its_own_status() -> None:
    request = read(EXAMPLE.replace(b"36cfcbe3", b'x\\" resp=999'))
    assert isinstance(request, LoggedRequest)
    assert request.code == 200


def test_an_etcd_line_of_the_field() -> None:
    line = (
        b'{"level":"warn","ts":"2022-05-24T07:56:42.184+0200","caller":"etcdserver/util.go:166","msg":'
        b'"apply request took too long","took":"5357.87304ms","expected-duration":"100ms","prefix":'
        b'"read-only range ","request":"key:\\"/registry/pods/\\" range_end:\\"/registry/pods0\\" ",'
        b'"response":"range_response_count:60077 size:602251227"}'
    )
    slow = read(line)
    assert isinstance(slow, SlowRequest)
    assert (slow.key, slow.range_end, slow.limit) == ("/registry/pods/", "/registry/pods0", 0)
    assert (slow.took, slow.keys, slow.size) == (5_357_873, 60_077, 602_251_227)
    assert datetime.fromtimestamp(slow.at / 1e6, UTC).hour == 5


def test_an_impersonated_account_is_the_one_that_counts() -> None:
    event = json.loads(audit_event(LoggedRequest("get", "/api/v1/pods", "kubectl", "admin", NEWEST, 5, 200)))
    event["impersonatedUser"] = {"username": "alice"}
    request = read(json.dumps(event).encode())
    assert isinstance(request, LoggedRequest)
    assert request.user == "alice"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   \t",
        b"\tk8s.io/apiserver/pkg/server/httplog.go:132 +0x1f",
        b'I0823 08:55:54.330840       1 trace.go:205] "List etcd3" key:/pods',
        b'{"level":"info","ts":"2026-01-01T00:00:00Z","msg":"compacted revision"}',
        httplog(LoggedRequest("POST", "/api/v1/pods", "a", "", NEWEST, 1, 201), 30),
        audit_event(LoggedRequest("create", "/api/v1/pods", "a", "u", NEWEST, 1, 201)),
        audit_event(LoggedRequest("list", "/api/v1/pods", "a", "u", NEWEST, 1), "RequestReceived"),
    ],
)
def test_what_belongs_to_a_log_without_being_counted(line: bytes) -> None:
    assert isinstance(read(line), Skip)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"\x00\xff\x1b[31m", "neither"),
        (b"hello", "neither"),
        (b'{"a":', "not valid JSON"),
        (b'{"auditID":"1"}', "not an audit Event"),
        (EXAMPLE[:100], "httplog line that breaks off"),
        (EXAMPLE.replace(b"1.926865ms", b"fast"), "no duration"),
        (EXAMPLE.replace(b"I0823", b"I1399"), "no day"),
        (b'{"msg":"request stats","ts":"yesterday","time spent":"1ms"}', "no time"),
        (audit_event(LoggedRequest("list", "/", "a", "u", NEWEST, 1), "Halfway"), "unknown audit stage"),
        (audit_event(LoggedRequest("list", "/", "a", "u", NEWEST - 60 * YEAR, 1)), "no time: the year 19"),
    ],
)
def test_malformed_lines_say_why(line: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        read(line)


def test_an_event_with_a_huge_object_is_read_from_its_two_ends() -> None:
    request = LoggedRequest(
        "list", '/api/v1/pods?x=","requestObject":', "a", "u", NEWEST, 7_000_000, 200, id="1"
    )
    items = '{"kind":"PodList","items":[' + ",".join(['{"requestReceivedTimestamp":"x"}'] * 90) + "]}"
    line = audit_event(request, body=items)
    assert auditlog.read_long(line[:700], line[-400:]) == request
    with pytest.raises(Malformed):
        auditlog.read_long(line[:100], line[-400:])
    with pytest.raises(Malformed):
        auditlog.read_long(line[:700], b"no end")
