"""A log may come from anywhere: each line counts or is malformed, and a report comes of it."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime
from itertools import chain

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest, Malformed, SlowRequest
from ktui.audit.formats.record_reader import TraceReader, line_reader
from ktui.audit.reading.record_framing import records
from ktui.audit.reading.streams import BrokenStream, BufferedStream, UnpackLimit, leaves
from ktui.audit.tally import Tally
from ktui.cli.auditing.text import markdown, print_report
from tests.unit.audit import logs

NOW = datetime(2026, 9, 1, tzinfo=UTC)
AT = 1_787_000_000_000_000
REQUEST = LoggedRequest("list", "/api/v1/pods?limit=500", "agent/1.0", "ann", AT, 700, 200)
SLOW = SlowRequest("apply", "range", "/registry/pods/", "/registry/pods0", 500, 0, AT, 120_000, 40, 9_000)
STATS = SlowRequest("stats", "range", "a", "", 0, 0, AT, 1_200, 3, 77)
LINES = (
    logs.audit_event(REQUEST),
    logs.audit_event(REQUEST, "ResponseStarted"),
    logs.httplog(REQUEST, 20),
    logs.httplog(REQUEST, 34),
    logs.etcd_line(SLOW),
    logs.etcd_line(STATS),
)
DEEP = b"[" * 3_000
NUMBERS = b'1e308 -1 NaN null {} [] "\\ud800" "\\u001b[2J" "1e999h" "9999999999h" "-1s" "\xff"'.split()
TIMES = b'"0001-01-01T00:00:00Z" "9999-12-31T23:59:59Z" "2026-08-23T08:55:54.33+99:99"'.split()
LONG = (
    b"9" * 30,
    b"9" * 6_000,
    DEEP,
    b'"%s"' % (b"x" * 9_000),
    b'"%s"' % (b"1h" * 4_000),
    b'"%ss"' % (b"9" * 400),
)
VALUES = (*NUMBERS, *TIMES, *LONG)
RAW = (
    b"",
    bytes(50),
    b"\xff",
    DEEP,
    b"{" * 3_000,
    b'{"auditID":' + DEEP,
    b'{"msg":"request stats","x":' + DEEP,
    b'{"kind":"Event"}',
    b'"HTTP" verb="GET"',
    b'I9999 99:99:99.999999 1 x] "HTTP" verb="GET" URI="\\',
    b"\x1b[2J\xc2\x9b31m",
)


@st.composite
def mutated_line(draw: st.DrawFn) -> bytes:
    line = draw(st.sampled_from(LINES))
    kind = draw(st.sampled_from(("value", "value", "cut", "flipped", "raw", "whole")))
    if kind == "raw":
        return draw(st.sampled_from(RAW))
    if kind == "cut":
        return line[: draw(st.integers(0, len(line)))]
    if kind == "flipped":
        at = draw(st.integers(0, len(line) - 1))
        return line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]
    if kind == "value" and line.startswith(b"{"):
        fields = json.loads(line)
        name = draw(st.sampled_from(sorted(fields)))
        fields[name] = "§"
        text = json.dumps(fields, ensure_ascii=False).encode()
        return text.replace('"§"'.encode(), draw(st.sampled_from(VALUES)))
    if kind == "value":
        word = draw(st.sampled_from(line.split(b'"')))
        return line.replace(word, draw(st.sampled_from(VALUES)), 1) if word else line
    return line


@settings(max_examples=300)
@given(mutated_line())
def test_a_line_counts_or_is_malformed(line: bytes) -> None:
    try:
        line_reader(NOW, TraceReader())(line)
    except Malformed as error:
        assert len(str(error)) < 500


@settings(max_examples=60)
@given(st.lists(mutated_line(), max_size=12), st.sampled_from(("plain", "gzip", "cut gzip")))
@example([b"\r" + logs.httplog(REQUEST, 20)], "plain")
def test_a_report_comes_of_any_log(lines: list[bytes], packing: str) -> None:
    data = b"\n".join(chain.from_iterable(zip(lines, LINES, strict=False)))
    if packing != "plain":
        data = gzip.compress(data)[: -9 if packing == "cut gzip" else None]
    tally = Tally(NOW, "")
    tally.open_file("a\x1b[31m.log")
    try:
        for leaf in leaves("log", BufferedStream(io.BytesIO(data)), UnpackLimit(lambda: len(data))):
            for block in records(leaf.source):
                tally.feed(block)
    except BrokenStream:
        assert packing == "cut gzip"
    report = Wish("1.34").report(tally)
    assert markdown(report).replace("\n", "").isprintable()
    print_report(report)
