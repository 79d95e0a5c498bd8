"""Every request of the recordings: its route, client, query, status and bytes equal the truth."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ktui.audit.request_list import ListedRequest
from tests.unit.traces.recorded import NAMES, file, listed, truth
from tools.fidelity import span_routes


def by_id(found: list[ListedRequest]) -> dict[str, ListedRequest]:
    assert len({request.audit_id for request in found}) == len(found)
    return {request.audit_id: request for request in found}


@pytest.mark.slow
def test_the_whole_recordings() -> None:
    tally = span_routes.replay()
    assert not tally.disagreements
    assert tally.count[1] > 1_000


@pytest.mark.parametrize("recording", NAMES)
def test_spans_tell_all_but_the_user(recording: str) -> None:
    found = by_id(listed(file(recording, "otlp.jsonl.gz")))
    for audit_id, sent in truth(recording).items():
        request = found[audit_id]
        told = (request.route, request.path, request.status, request.user_agent, request.verb, request.source)
        assert told == (
            sent["route"], sent["path"], sent["status"], sent["agent"], sent["verb"].lower(), "otlp",
        ), sent  # fmt: skip
        assert not request.user
        if "bytes" in sent and sent["what"] not in span_routes.UNPACKED:
            assert request.bytes == sent["bytes"]


@pytest.mark.parametrize("recording", NAMES)
def test_klog_traces_tell_the_right_route_or_none(recording: str) -> None:
    found = by_id(listed(file(recording, "apiserver.log.gz")))
    sent = truth(recording)
    told = {audit_id: request for audit_id, request in found.items() if audit_id in sent}
    assert told
    assert {request.route for request in told.values()} <= {"", "cache", "etcd"}
    assert any(request.route for request in told.values())
    for audit_id, request in told.items():
        assert request.route in ("", sent[audit_id]["route"]), sent[audit_id]
        assert (request.status, request.bytes, request.user) == (None, None, "")
        assert request.path == sent[audit_id]["path"].partition("?")[0]


@pytest.mark.parametrize("recording", NAMES)
def test_an_audit_event_adds_the_user(recording: str) -> None:
    logs = [file(recording, name) for name in ("apiserver.log.gz", "audit.log.gz", "otlp.jsonl.gz")]
    found = by_id(listed(*logs))
    for audit_id, sent in truth(recording).items():
        request = found[audit_id]
        assert (request.user, request.route, request.path) == (sent["user"], sent["route"], sent["path"])
        assert request.source in ("audit+otlp", "audit+otlp+klog trace")


def test_objects_read_and_returned() -> None:
    found = by_id(listed(file("1.36-default", "otlp.jsonl.gz")))
    counts = {
        sent["what"]: (found[audit_id].scanned, found[audit_id].returned)
        for audit_id, sent in truth("1.36-default").items()
    }
    assert counts["pods unset"] == (8000, 8000)
    assert counts["pods label"] == (8000, 400)  # no index for labels
    assert counts["pods node"] == (80, 80)  # an index for spec.nodeName
    assert counts["pods page"] == (8000, 500)
    assert counts["continue"] == (7100, 900)
    assert counts["pods newer"] == (0, 0)
    assert counts["get pod"] == (1, 1)
    assert counts["get missing"] == (0, 0)
    assert counts["events"] == (None, None)  # etcd's spans do not count


def test_the_probe_and_the_wait_are_stages() -> None:
    found = by_id(listed(file("1.36-default", "otlp.jsonl.gz")))
    requests = {sent["what"]: found[audit_id] for audit_id, sent in truth("1.36-default").items()}
    assert "probe" in requests["pods unset"].stages
    assert "probe" not in requests["pods rv=0"].stages
    assert requests["pods newer"].stages["wait"] == pytest.approx(3000, abs=5)
    whole = requests["pods page"]
    assert sum(whole.stages.values()) == pytest.approx(whole.ms, abs=0.1)
    assert list(requests["pods unset"].stages) == [
        "audit", "impersonation", "flow control", "authorization", "ready", "probe", "wait", "list", "encode",
        "send", "other",
    ]  # fmt: skip


def test_a_line_has_exactly_the_keys_of_the_contract() -> None:
    (first, *_) = listed(file("1.36-default", "audit.log.gz"))
    assert list(json.loads(msgspec.json.encode(first))) == [
        "audit_id", "time", "verb", "path", "user", "user_agent", "status", "route", "fallback", "scanned",
        "returned", "bytes", "ms", "stages", "source",
    ]  # fmt: skip
    assert (first.source, first.route, first.fallback, first.scanned) == ("audit", "", None, None)


def test_a_watch_that_is_still_open_has_a_route(tmp_path: Path) -> None:
    spans = _spans("1.36-default")
    watch = next(span for span in spans if span["name"] == "WatchList")
    kept = [
        span
        for span in spans
        if span["traceId"] == watch["traceId"] and span.get("kind") != "SPAN_KIND_SERVER"
    ]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": kept}]}]}))
    (request,) = listed(str(path))
    assert (request.verb, request.route, request.source) == ("watch", "cache", "otlp (incomplete)")
    assert (request.status, request.ms, request.path) == (None, None, "/api/v1/namespaces/team-001/pods")


def test_lost_spans_prove_nothing(tmp_path: Path) -> None:
    """An apiserver drops spans under load: a LIST that was answered came from somewhere."""
    spans = _spans("1.36-default")
    ids = {sent["what"]: audit_id for audit_id, sent in truth("1.36-default").items()}
    kept = [
        span
        for span in spans
        if not span["name"].startswith(("cacher.", "List(recursive", "Get etcd3", "etcdserverpb"))
    ]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": kept}]}]}))
    found = by_id(listed(str(path)))
    for what in ("pods unset", "events", "get pod", "get pod rv=0", "watch"):
        assert (found[ids[what]].route, found[ids[what]].fallback) == ("", None)
    assert found[ids["forbidden"]].route == "none"


def test_the_order_of_batches_does_not_matter(tmp_path: Path) -> None:
    with gzip.open(file("1.36-default", "otlp.jsonl.gz"), "rt") as lines:
        documents = list(lines)
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(reversed(documents)))
    assert {request.audit_id: request.route for request in listed(str(path))} == {
        request.audit_id: request.route for request in listed(file("1.36-default", "otlp.jsonl.gz"))
    }


def _spans(recording: str) -> list[dict[str, Any]]:
    with gzip.open(file(recording, "otlp.jsonl.gz"), "rt") as lines:
        return [
            span
            for line in lines
            for resource in json.loads(line)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]
