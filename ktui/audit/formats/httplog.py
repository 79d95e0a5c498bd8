"""kube-apiserver's request log (`-v=3` and up): klog lines of httplog.go, in all formats from 1.19 to 1.37.

1.19–1.21 write the HTTP method, since 1.22 the API's verb and an audit-ID; 1.23 adds the
priority level and flow schema, 1.24 the seats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

import msgspec

from ktui.audit.formats.log_record import (
    LoggedRequest,
    Malformed,
    Skip,
    Skips,
    Spent,
    decoded,
    duration,
    klog_day,
    unquote,
    zap_time,
)

MARK = b'"HTTP" verb="'
READS = frozenset((b"GET", b"LIST", b"WATCH"))

_TEXT = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
_HEAD = re.compile(rb"[IWEF](\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{6}) ")
# All versions agree up to the user agent; the rest is named fields, the status comes last.
_FIELDS = re.compile(
    rb'"HTTP" verb="(\w+)" URI=' + _TEXT + rb' latency="([^"]*)" userAgent=' + _TEXT +
    rb'((?: [\w-]+="[^"\\]*(?:\\.[^"\\]*)*":?| apf_\w+=\d+)*) (?:resp=(\d{1,9})|hijacked=true)'
)  # fmt: skip
_ID = re.compile(rb' audit-ID="([^"\\]*)"')
_SEATS = re.compile(rb" apf_iseats=(\d{1,9})")
_EXECUTION = re.compile(rb' apf_execution_time="([^"]*)"')
SLOW = 500_000
"""Microseconds from which an apiserver annotates an audit Event with its latencies."""
_INIT = re.compile(rb' (?:watchlist|apf)_init_latency="([^"]*)"')


def read(line: bytes, now: datetime, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of an httplog line; without `writes`, WRITES if it does not read. Raises Malformed.

    `now` is later than all lines: klog writes no year.
    """
    start = line.find(MARK)
    verb_end = line.find(b'"', start + len(MARK))
    if verb_end > 0 and not writes and line[start + len(MARK) : verb_end] not in READS:
        return Skips.WRITES
    head, fields = _HEAD.search(line, 0, start), _FIELDS.match(line, start)
    if head is None or fields is None:
        raise Malformed("an httplog line that breaks off, or with its fields in disorder")
    month_day, hour, minute, second, micros = head.groups()
    name, uri, latency, agent, more, code = fields.groups()
    took = duration(latency.decode("utf-8", "replace"))
    clock = (int(hour) * 60 + int(minute)) * 60 + int(second)
    return LoggedRequest(
        verb=name.decode(), uri=unquote(uri.decode("utf-8", "replace")),
        agent=unquote(agent.decode("utf-8", "replace")), user="",
        at=klog_day(month_day.decode(), now) + clock * 1_000_000 + int(micros), took=took,
        code=int(code) if code else -1, seats=int(_value(_SEATS, more) or -1),
        init=_longest(text.decode("utf-8", "replace") for text in _INIT.findall(more)), id=_value(_ID, more),
        spent=_spent(took, _value(_EXECUTION, more)),
    )  # fmt: skip


def _value(field: re.Pattern[bytes], more: bytes) -> str:
    found = field.search(more)
    return found[1].decode("utf-8", "replace") if found else ""


def _spent(took: int, execution: str) -> Spent | None:
    """Return the time before execution as waiting for seats; None without it, or if it was not slow."""
    if took <= SLOW or not execution:
        return None
    return Spent(total=took, queue=max(0, took - duration(execution)), etcd=-1)


def _longest(inits: Iterable[str]) -> int:
    """Return the longer of flow control's init latency and a streaming LIST's; -1 without either."""
    return max((duration(text) for text in inits if text), default=-1)


_Count = Annotated[int, msgspec.Meta(ge=-1, le=10**9)]
_MILLISECONDS = 1e11  # above: milliseconds since 1970, as klog writes; below: seconds, as zap does


class _Line(msgspec.Struct, gc=False):
    """A line with `--logging-format=json`: httplog's fields as JSON.

    {"ts":1787475354330.84,"caller":"httplog/httplog.go:132","msg":"HTTP","v":3,"verb":"LIST","URI":"/api/v1/…",
     "latency":"1.926865ms","userAgent":"…","audit-ID":"…","srcIP":"…","apf_iseats":1,"resp":200}
    """

    ts: str | float
    verb: str
    uri: str = msgspec.field(name="URI")
    latency: str | float
    agent: str = msgspec.field(name="userAgent", default="")
    id: str = msgspec.field(name="audit-ID", default="")
    seats: _Count = msgspec.field(name="apf_iseats", default=-1)
    execution: str = msgspec.field(name="apf_execution_time", default="")
    apf_init: str = msgspec.field(name="apf_init_latency", default="")
    watchlist_init: str = msgspec.field(name="watchlist_init_latency", default="")
    resp: _Count = -1


_decode = msgspec.json.Decoder(_Line).decode


def read_json(line: bytes, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of a line; without `writes`, WRITES if it does not read. Raises Malformed."""
    entry = decoded(_decode, line, "an httplog line in JSON")
    if not writes and entry.verb.encode() not in READS:
        return Skips.WRITES
    took = duration(entry.latency) if isinstance(entry.latency, str) else round(entry.latency * 1e6)
    at = entry.ts / 1000 if not isinstance(entry.ts, str) and entry.ts > _MILLISECONDS else entry.ts
    return LoggedRequest(
        verb=entry.verb, uri=entry.uri, agent=entry.agent, user="", at=zap_time(at), took=took,
        code=entry.resp if entry.resp <= 999 else -1, seats=entry.seats,
        init=_longest((entry.apf_init, entry.watchlist_init)), id=entry.id,
        spent=_spent(took, entry.execution),
    )  # fmt: skip
