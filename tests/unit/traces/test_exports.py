"""Spans in all their forms: OTLP in JSON and protobuf, Tempo, Jaeger; and what is none of these."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ktui.traces.assembly import TraceAssembler
from ktui.traces.otlp import decode_json, decode_protobuf
from ktui.traces.spans import MOST_TEXT, NotSpans, SpanCounts
from tests.unit.traces.recorded import file, listed

NAME = "1.36-default"


def documents() -> list[dict[str, Any]]:
    with gzip.open(file(NAME, "otlp.jsonl.gz"), "rt") as lines:
        return [json.loads(line) for line in lines]


def as_base64(value: Any) -> Any:
    """Return a document with its ids in base64, as Tempo writes them."""
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {
            key: base64.b64encode(bytes.fromhex(each)).decode() if key in ids else as_base64(each)
            for key, each in value.items()
        }
    return [as_base64(each) for each in value] if isinstance(value, list) else value


def messages() -> list[bytes]:
    return [
        ParseDict(as_base64(document), ExportTraceServiceRequest()).SerializeToString()
        for document in documents()
    ]


def merged() -> list[dict[str, Any]]:
    return [part for document in documents() for part in document["resourceSpans"]]


def jaeger() -> dict[str, Any]:
    """Return the recording as Jaeger's UI exports it."""
    traces: dict[str, Any] = {}
    for part in merged():
        for scope in part["scopeSpans"]:
            for span in scope["spans"]:
                trace = traces.setdefault(
                    span["traceId"],
                    {
                        "traceID": span["traceId"],
                        "spans": [],
                        "processes": {"p1": {"serviceName": "apiserver"}},
                    },
                )
                start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                kind = span["kind"].removeprefix("SPAN_KIND_").lower()
                trace["spans"].append(
                    {
                        "traceID": span["traceId"], "spanID": span["spanId"].lstrip("0"),
                        "operationName": span["name"], "processID": "p1", "startTime": start // 1000,
                        "duration": (end - start) // 1000,
                        "references": [
                            {"refType": "CHILD_OF", "spanID": span["parentSpanId"]}
                        ] if span.get("parentSpanId") else [],
                        "tags": [*tags(span), {"key": "span.kind", "type": "string", "value": kind}],
                        "logs": [
                            {
                                "timestamp": int(event["timeUnixNano"]) // 1000,
                                "fields": [{"key": "event", "value": event["name"]}, *tags(event)],
                            }
                            for event in span.get("events", [])
                        ],
                    }
                )  # fmt: skip
    return {"data": list(traces.values()), "total": 0, "limit": 0}


def tags(of: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for attribute in of.get("attributes", []):
        ((kind, value),) = attribute["value"].items()
        number = kind == "intValue"
        found.append(
            {
                "key": attribute["key"],
                "type": "int64" if number else "string",
                "value": int(value) if number else value,
            }
        )
    return found


FORMS = {
    "one document": lambda: json.dumps({"resourceSpans": merged()}).encode(),
    "pretty-printed": lambda: json.dumps({"resourceSpans": merged()}, indent=2).encode(),
    "Tempo": lambda: json.dumps(as_base64({"batches": merged()})).encode(),
    "Tempo's API v2": lambda: json.dumps(as_base64({"trace": {"resourceSpans": merged()}})).encode(),
    "Jaeger's API v3": lambda: json.dumps({"result": {"resourceSpans": merged()}}).encode(),
    "Jaeger": lambda: json.dumps(jaeger()).encode(),
    "Jaeger, pretty-printed": lambda: json.dumps(jaeger(), indent=4).encode(),
    "protobuf": lambda: b"".join(messages()),  # messages of one type, one after another, are one message
    "protobuf of the collector's file exporter": lambda: b"".join(
        struct.pack(">I", len(message)) + message for message in messages()
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_requests(form: str, tmp_path: Path) -> None:
    path = tmp_path / "spans"
    path.write_bytes(FORMS[form]())
    wanted, found = (
        {
            request.audit_id: (request.route, request.scanned, request.returned, request.path, request.status)
            for request in listed(name)
        }
        for name in (file(NAME, "otlp.jsonl.gz"), str(path))
    )
    assert found == wanted
    assert len(found) == 25


BAD = {
    "another document": b'{"resourceSpans": 5}',
    "a number for a name": b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"x","name":7}]}]}]}',
    "deep": b'{"resourceSpans":' + b"[" * 100_000,
    "cut off": b'{"resourceSpans":[{"scopeSpans":[',
    "not UTF-8": b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"\xff","spanId":""}]}]}]}',
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_document_of_spans_is_said(case: str) -> None:
    with pytest.raises(NotSpans, match="not a document of spans"):
        decode_json(BAD[case], SpanCounts())


def test_what_is_no_message_is_said() -> None:
    with pytest.raises(NotSpans, match="not an OTLP message"):
        decode_protobuf(b"\n\xff\xff\xff", SpanCounts())


def one_span(**fields: Any) -> bytes:
    span = {
        "traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "GET /api/v1/pods", "kind": 2,
        "startTimeUnixNano": "1795000000000000000", "endTimeUnixNano": "1795000000500000000",
        "attributes": [{"key": "http.target", "value": {"stringValue": "/api/v1/pods"}}], **fields,
    }  # fmt: skip
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"traceId": "12"}, "a trace id that is not 16 bytes"),
        ({"traceId": "g" * 32}, "a trace id that is not 16 bytes"),
        ({"traceId": "0" * 32}, "a trace id that is not 16 bytes"),
        ({"spanId": ""}, "a span id that is not 8 bytes"),
        ({"spanId": "1" * 32}, "a span id that is not 8 bytes"),
        ({"startTimeUnixNano": "0"}, "no time"),
        ({"startTimeUnixNano": "x"}, "no time"),
        ({"endTimeUnixNano": "9" * 30}, "no time"),
        ({"endTimeUnixNano": -5}, "no time"),
    ],
)
def test_a_span_that_cannot_be_used_is_counted(fields: dict[str, Any], why: str) -> None:
    counts = SpanCounts()
    assert decode_json(one_span(**fields), counts) == []
    assert counts.bad == {why: 1}


def test_a_clock_that_goes_back_gives_no_negative_time() -> None:
    counts = SpanCounts()
    spans = decode_json(one_span(endTimeUnixNano="1794999999000000000"), counts)
    (request,) = TraceAssembler().add(spans, 0.0)
    assert request.took == 0


def test_long_attributes_are_cut() -> None:
    attributes = [
        {"key": "http.target", "value": {"stringValue": "/api/v1/pods?x=" + "y" * (1 << 20)}},
        {"key": "user_agent.original", "value": {"stringValue": "z" * (1 << 20)}},
        *({"key": f"k{number}", "value": {"intValue": str(number)}} for number in range(1000)),
    ]
    (span,) = decode_json(one_span(attributes=attributes), SpanCounts())
    assert len(str(span.attributes["user_agent.original"])) == MOST_TEXT + 1
    assert len(str(span.attributes["http.target"])) < 20_000
    assert len(span.attributes) <= 64


def test_numbers_that_are_none_are_unknown() -> None:
    attributes = [
        {"key": "http.target", "value": {"stringValue": "/api/v1/pods"}},
        {"key": "http.response.status_code", "value": {"stringValue": "many"}},
        {"key": "http.response.body.size", "value": {"doubleValue": 1e300}},
    ]
    (request,) = TraceAssembler().add(decode_json(one_span(attributes=attributes), SpanCounts()), 0.0)
    assert (request.status, request.body) == (-1, -1)


def test_what_could_not_be_used_is_said() -> None:
    counts = SpanCounts(
        dropped=1, others=1200, bad=Counter({"no trace id": 2}), unknown=Counter({"a": 1, "b\x1b": 3})
    )
    assert counts.problems() == [
        "1 span dropped: their requests were not complete",
        "2 spans cannot be used: no trace id",
        "1,200 spans of other services left out",
        "spans with names that ktui does not know: 'b\\x1b' (3), 'a' (1)",
    ]
    assert SpanCounts().problems() == []
