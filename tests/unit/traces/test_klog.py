"""klog's `Trace[…]` lines: cut, interleaved, in the records of cloud providers, and with hostile text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ktui.audit.request_list import ListedRequest
from ktui.traces.klog import MOST_OPEN, BrokenTrace, TraceLines
from tests.unit.traces.recorded import file, listed

HEAD = (
    'I1123 08:53:56.853565   12473 trace.go:236] Trace[{id}]: "List" accept:application/json, */*,'
    "audit-id:{audit},client:127.0.0.1,api-group:,api-version:v1,name:,subresource:,namespace:,"
    "protocol:HTTP/2.0,resource:pods,scope:cluster,url:/api/v1/pods,user-agent:{agent},verb:LIST "
    "(23-Nov-2026 08:53:56.164) (total time: 3690ms):"
)
END = "Trace[{id}]: [{took}] [{took}] END"


def lines(
    *inner: str, number: int = 7, audit: str = "a1", agent: str = "x/1", took: str = "3.690445196s"
) -> list[str]:
    """Return the lines of a trace: its first and last line, and those between with their prefix."""
    return [
        HEAD.format(id=number, audit=audit, agent=agent),
        *(f"Trace[{number}]: {line}" for line in inner),
        END.format(id=number, took=took),
    ]


def read(*text: str) -> list[str]:
    """Return the route of each request in these lines."""
    traces = TraceLines()
    found = [request for line in text if (request := traces.add(line)) is not None]
    return [request.route for request in found + traces.finish()]


def nested(name: str, fields: str, ms: int, after: str = "]") -> str:
    return f'["{name}" audit-id:a1,{fields} {ms}ms (08:53:56.164){after}'


GAVE_UP = nested("cacher.GetList", "type:pods", 3000)
PROBE = nested("List(recursive=false) etcd3", "key:/pods,resourceVersion:,limit:1,continue:", 536, "]]")
FROM_ETCD = nested("List(recursive=true) etcd3", "key:/pods,limit:0", 600)
CASES = {
    "listed from the cache": (
        (
            nested("cacher.GetList", "type:pods", 3689, ""),
            ' ---"Filtered items" count:3 241ms (08:53:56.839)]',
        ),
        "cache",
    ),
    "a LIST from etcd": ((FROM_ETCD,), "etcd"),
    "the probe is no LIST": ((nested("cacher.GetList", "type:pods", 3200, ""), f" {PROBE}"), ""),
    "the cacher gave up, and etcd served it": ((GAVE_UP, FROM_ETCD), "etcd"),
    "the cacher gave up, and what followed took too little to be logged": ((GAVE_UP,), ""),
    "the cacher gave up, and nothing followed": ((nested("cacher.GetList", "type:pods", 3690),), "cache"),
    "nothing below was slow": ((), ""),
    "a step without fields": (
        (
            nested("GuaranteedUpdate etcd3", "key:/configmaps/a/b,type:*core.ConfigMap", 540, ""),
            ' ---"Txn call completed" 539ms (08:53:56.839)]',
            '---"Write to database call succeeded" len:198 0ms (08:53:56.840)',
        ),
        "etcd",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_route_that_is_proven(case: str) -> None:
    inner, route = CASES[case]
    assert read(*lines(*inner)) == [route]


@pytest.mark.parametrize(("revision", "route"), [("", "etcd"), ("5", "")])
def test_a_get_without_a_resource_version_is_from_etcd(revision: str, route: str) -> None:
    head = HEAD.format(id=7, audit="a1", agent="x/1").replace('"List"', '"Get"').replace("LIST", "GET")
    inner = nested("cacher.Get", f"key:/pods/a/x,resource-version:{revision}", 3600)
    assert read(head, f"Trace[7]: {inner}", END.format(id=7, took="3.6s")) == [route]


def test_traces_may_be_interleaved() -> None:
    first = lines(CASES["a LIST from etcd"][0][0], number=1)
    second = lines(number=2, audit="a2")
    mixed = [first[0], second[0], "I1123 08:53:57.1 1 other.go:1] hello", first[1], second[1], first[2]]
    assert read(*(line for line in mixed if "Trace[" in line)) == ["", "etcd"]


def test_the_newest_line_may_come_first() -> None:
    assert read(*reversed(lines(CASES["a LIST from etcd"][0][0]))) == ["etcd"]


def test_a_trace_without_its_end_is_counted_as_cut() -> None:
    traces = TraceLines()
    for line in lines(CASES["a LIST from etcd"][0][0])[:-1]:
        assert traces.add(line) is None
    (request,) = traces.finish()
    assert (request.route, traces.cut) == ("etcd", 1)


def test_open_traces_are_bounded() -> None:
    traces = TraceLines()
    for number in range(MOST_OPEN + 10):
        traces.add(HEAD.format(id=number, audit="a", agent="x"))
    assert traces.cut == 10
    assert len(traces.finish()) == MOST_OPEN


@pytest.mark.parametrize("agent", ["x,verb:GET", "x,audit-id:b2,client:1.2.3.4", "x,url:/api/v1/secrets"])
def test_a_field_in_a_user_agent_is_not_believed(agent: str) -> None:
    with pytest.raises(BrokenTrace, match="field's name in a value"):
        read(*lines(agent=agent))


@pytest.mark.parametrize(
    "line", ['["cacher.GetList" audit-id:a1,type:po', "garbage", '---"Filtered items" count:3', "[", ""]
)
def test_a_line_that_breaks_off_ends_its_trace(line: str) -> None:
    traces = TraceLines()
    traces.add(lines()[0])
    with pytest.raises(BrokenTrace):
        traces.add(f"Trace[7]: {line}")
    assert (traces.cut, traces.add(lines()[1]), traces.finish()) == (1, None, [])


def test_traces_of_other_work_are_no_requests() -> None:
    traces = TraceLines()
    for line in (
        'I1123 10:02:51.4 22878 trace.go:236] Trace[17]: "List(recursive=true) etcd3" audit-id:,key:/pods,'
        "limit:10000,continue: (23-Nov-2026 10:02:50.128) (total time: 1371ms):",
        "Trace[17]: [1.37147304s] [1.37147304s] END",
    ):
        assert traces.add(line) is None


CARRIERS = {
    "CloudWatch, a line an event": lambda text: "\n".join(
        json.dumps({"eventId": str(number), "timestamp": 1, "message": line})
        for number, line in enumerate(text)
    ),
    "CloudWatch, a message of several lines": lambda text: json.dumps(
        {"events": [{"eventId": "1", "timestamp": 1, "message": "\n".join(text)}]}
    ),
    "CloudWatch export": lambda text: "\n".join(f"2026-11-23T08:53:56.164Z {line}" for line in text),
    "Cloud Logging, newest first": lambda text: json.dumps(
        [
            {"insertId": str(number), "textPayload": line, "timestamp": "2026-11-23T08:53:56Z"}
            for number, line in reversed([*enumerate(text)])
        ],
        indent=1,
    ),
    "Cloud Logging, parsed": lambda text: "\n".join(
        json.dumps({"jsonPayload": {"message": line.partition("] ")[2] if "trace.go" in line else line}})
        for line in text
    ),
    "Log Analytics": lambda text: "\n".join(
        json.dumps({"Category": "kube-apiserver", "log_s": f"{line}\n"}) for line in text
    ),
    "Event Hub": lambda text: json.dumps(
        {"records": [{"category": "kube-apiserver", "properties": {"log": line}} for line in text]}
    ),
    "kubectl logs --prefix": lambda text: "\n".join(
        f"[pod/kube-apiserver-1/kube-apiserver] {line}" for line in text
    ),
    "containerd": lambda text: "\n".join(f"2026-11-23T08:53:56.1Z stderr F {line}" for line in text),
    "klog in JSON": lambda text: json.dumps(
        {
            "ts": 1795428000000.1,
            "caller": "trace/trace.go:236",
            "msg": "\n".join(text).partition("] ")[2],
            "v": 0,
        }
    ),
}


@pytest.mark.parametrize("carrier", CARRIERS)
def test_carriers(carrier: str, tmp_path: Path) -> None:
    path = tmp_path / "apiserver.log"
    path.write_text(CARRIERS[carrier](lines(CASES["a LIST from etcd"][0][0])) + "\n")
    (request,) = listed(str(path))
    assert (request.audit_id, request.route, request.source) == ("a1", "etcd", "klog trace")
    assert (request.time, request.ms, request.path) == (
        "2026-11-23T08:53:56.164000Z",
        3690.445,
        "/api/v1/pods",
    )


def test_a_recorded_log_in_windows_line_ends(tmp_path: Path) -> None:
    name = file("1.33-no-consistent-list", "apiserver.log.gz")
    path = tmp_path / "apiserver.log"
    path.write_bytes(gzip.decompress(Path(name).read_bytes()).replace(b"\n", b"\r\n"))

    def routes(found: list[ListedRequest]) -> dict[str, str]:
        return {request.audit_id: request.route for request in found}

    assert routes(listed(str(path))) == routes(listed(name)) != {}
