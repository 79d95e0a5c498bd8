"""`ktui serve --tracing-config-file`: its spans are those of a recorded apiserver. `ktui tracing-config`."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.server.serve_config import read_tracing_config
from ktui.cli.server.tracing import MOST_QUEUED, Tracer, request_with
from ktui.contract.events import AnyEvent, ChainStage, EtcdCall, RequestFinished, RequestStarted
from ktui.traces.assembly import TraceAssembler
from ktui.traces.otlp import decode_json, spans_of
from ktui.traces.spans import SpanCounts, TracedRequest, TraceSpan
from tests.unit.traces.recorded import file, truth

RECORDED = "1.36-default"
EVERY = 1_000_000
CHAIN = [
    ChainStage("authentication", "admin", 0.1),
    ChainStage("impersonation", "none", 0.01),
    ChainStage("flow control", "global-default", 0.02),
    ChainStage("authorization", "allowed", 0.03),
]


def events(verb: str, path: str, route: str, *, status: int = 200, calls: tuple[tuple[str, str], ...] = (),
           refused: bool = False, **cost: Any) -> list[AnyEvent]:  # fmt: skip
    path, _, query = path.partition("?")
    chain = [*CHAIN[:3], ChainStage("authorization", "refused: RBAC", 0.03)] if refused else CHAIN
    started = RequestStarted(
        id=1, at=1_795_000_000.0, verb=verb, path=path, query=query, resource="pods", namespace="", name="x",
        client="kubectl", user_agent="kubectl/v1.36.0", peer="127.0.0.1:5", audit_id="a1", chain=chain,
    )  # fmt: skip
    done = RequestFinished(
        id=1, at=1_795_000_000.1, status=status, route=route, ms=10.0, sent_bytes=100,
        phases={"wait": 1.0, "encode": 2.0, "send": 3.0}, **cost,
    )  # fmt: skip
    asked = [EtcdCall(op=op, request="", request_id=1, purpose=purpose, ms=0.5) for op, purpose in calls]
    return [started, *asked, done]


PODS = "/api/v1/pods"
ONE = "/api/v1/namespaces/team-000/pods/x"
MAP = "/api/v1/namespaces/default/configmaps"
LISTED = {"fetched": 8000, "returned": 8000}
KINDS: dict[str, list[AnyEvent]] = {  # by the name that the recording has for it
    "pods unset": events("LIST", PODS, "cache", calls=(("range", "probe"),), **LISTED),
    "pods rv=0": events("LIST", f"{PODS}?resourceVersion=0", "cache", **LISTED),
    "secrets rv=0": events("LIST", f"{PODS}?resourceVersion=0", "cache"),
    "events": events("LIST", "/api/v1/events?limit=500", "etcd", calls=(("range", "list"),)),
    "get pod": events("GET", ONE, "etcd", calls=(("range", "get"),)),
    "get pod rv=0": events("GET", f"{ONE}?resourceVersion=0", "cache"),
    "forbidden": events("LIST", PODS, "none", status=403, refused=True),
    "post": events("POST", MAP, "etcd", status=201, calls=(("txn", ""),)),
    "watch": events("WATCH", f"{PODS}?watch=1&resourceVersion=0", "cache"),
    "watchlist": events(
        "WATCH", f"{PODS}?watch=1&sendInitialEvents=true", "cache", calls=(("range", "probe"),)
    ),
}


def spans_made(made: list[AnyEvent]) -> list[TraceSpan]:
    tracer = Tracer(EVERY, random.Random(1))
    for event in made:
        tracer.add(event)
    return list(spans_of(request_with(tracer.take(100))))


def recorded() -> dict[str, list[TraceSpan]]:
    """Return the spans of the recording by what was sent, without authentication."""
    counts, by_trace = SpanCounts(), dict[str, list[TraceSpan]]()
    with gzip.open(file(RECORDED, "otlp.jsonl.gz"), "rb") as lines:
        for line in lines:
            for span in decode_json(line, counts):
                if span.name != "authentication":
                    by_trace.setdefault(span.trace, []).append(span)
    sent = {audit_id: each["what"] for audit_id, each in truth(RECORDED).items()}
    return {
        sent[audit_id]: spans
        for spans in by_trace.values()
        if (audit_id := next((span.text("audit-id") for span in spans if span.text("audit-id")), "")) in sent
    }


def tree(spans: list[TraceSpan]) -> list[tuple[str, str, int]]:
    """Return each span as its name, that of its parent, and its kind; server spans by their method."""
    named = {span.id: span.name.split(" /")[0] for span in spans}
    return sorted((named[span.id], named.get(span.parent, ""), span.kind) for span in spans)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_has_the_spans_of_the_recorded_one(kind: str) -> None:
    assert tree(spans_made(KINDS[kind])) == tree(recorded()[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_and_events_are_the_recorded_ones(kind: str) -> None:
    theirs = {span.name.split(" /")[0]: span for span in recorded()[kind]}
    for span in spans_made(KINDS[kind]):
        other = theirs[span.name.split(" /")[0]]
        assert set(span.attributes) <= set(other.attributes), span.name
        if not span.name.startswith("cacher.Watch"):
            said = [event.name for event in other.events]
            assert [event.name for event in span.events if event.name not in said] == [], span.name


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_gives_the_route_that_the_server_had(kind: str) -> None:
    assembler = TraceAssembler()
    request: TracedRequest
    (request,) = assembler.add(spans_made(KINDS[kind]), 0.0)
    (started, *_, done) = KINDS[kind]
    assert isinstance(started, RequestStarted)
    assert isinstance(done, RequestFinished)
    assert (request.route, request.status, request.body) == (done.route, done.status, 100)
    assert request.path == (f"{started.path}?{started.query}" if started.query else started.path)
    if kind == "pods unset":
        assert (request.scanned, request.returned, request.probes) == (8000, 8000, 1)
    assert not assembler.counts.unknown


def test_sampling_and_the_queue_are_bounded() -> None:
    none, every = Tracer(0), Tracer(EVERY)
    for _ in range(300):
        for event in KINDS["pods unset"]:
            none.add(event)
            every.add(event)
    assert none.take(1) == []
    assert every.full.is_set() and not none.full.is_set(), "a full message is sent at once"
    assert len(every.take(1 << 20)) == MOST_QUEUED
    assert every.dropped > 0 and not every.full.is_set()


GOOD = "kind: TracingConfiguration\napiVersion: apiserver.config.k8s.io/v1beta1\n"


def test_the_configuration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tracing.yaml"
    path.write_text(GOOD + "endpoint: 127.0.0.1:4317\nsamplingRatePerMillion: 10000\n")
    assert read_tracing_config(path) == ("127.0.0.1:4317", 10_000)
    path.write_text(GOOD)
    assert read_tracing_config(path) == ("localhost:4317", 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: Config\n", "is not a TracingConfiguration"),
        ("[", "cannot be read"),
        (GOOD + "samplingRate: 1\n", "unknown field 'samplingRate'"),
        (GOOD + "samplingRatePerMillion: 1000001\n", "from 0 to 1000000"),
        (GOOD + "samplingRatePerMillion: true\n", "from 0 to 1000000"),
        (GOOD + "endpoint: 5\n", "HOST:PORT"),
    ],
)
def test_a_wrong_configuration_is_said(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "tracing.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=why):
        read_tracing_config(path)


def test_tracing_config_prints_what_serve_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ktui.cli.main import main

    assert main(["tracing-config", "--yaml", "--sampling", "500", "--endpoint", "10.0.0.1:9"]) == 0
    path = tmp_path / "tracing.yaml"
    path.write_text(capsys.readouterr().out)
    assert read_tracing_config(path) == ("10.0.0.1:9", 500)
    assert main(["tracing-config", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samplingRatePerMillion"] == EVERY
    assert main(["tracing-config"]) == 0
    out = capsys.readouterr().out
    assert all(
        name in out for name in ("kubeadm", "k3s", "kind", "OpenShift", "otlp/backend", "system:monitoring")
    )
    assert main(["tracing-config", "--sampling", "-1"]) == 2
    assert main(["tracing-config", "--endpoint", "nowhere"]) == 2


def test_observe_says_why_it_takes_traces_or_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    from ktui.cli.main import main

    assert main(["observe", "--otlp", "--kubeconfig", "config"]) == 2
    said = capsys.readouterr().err
    assert "takes --otlp without --kubeconfig" in said and "--kubeconfig FILE --otlp` shows both" in said
