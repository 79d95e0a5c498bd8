"""etcd's JSON log: "apply request took too long" and "request stats" (3.4–3.7)."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from ktui.audit.formats.log_record import SlowRequest, decoded, duration, zap_time

APPLY = b"apply request took too long"
STATS = b'"request stats"'
WHAT = "a line of etcd's log"

_KEY = re.compile(r'\bkey:"((?:[^"\\]|\\.)*)"')
_END = re.compile(r'\brange_end:"((?:[^"\\]|\\.)*)"')
_LIMIT = re.compile(r"\blimit:(\d{1,19})\b")
_REVISION = re.compile(r"\brevision:(\d{1,19})\b")
_KEYS = re.compile(r"\brange_response_count:(\d{1,19})\b")
_SIZE = re.compile(r"\bsize:(\d{1,19})\b")


_Count = Annotated[int, msgspec.Meta(ge=-1, le=(1 << 63) - 1)]


class _Apply(msgspec.Struct, gc=False):
    ts: str | float
    took: str
    prefix: str = ""
    request: str = ""
    response: str = ""
    error: str = ""


class _Stats(msgspec.Struct, gc=False):
    ts: str | float
    spent: str = msgspec.field(name="time spent")
    kind: str = msgspec.field(name="response type", default="")
    keys: _Count = msgspec.field(name="response count", default=-1)
    size: _Count = msgspec.field(name="response size", default=-1)
    content: str = msgspec.field(name="request content", default="")


_apply = msgspec.json.Decoder(_Apply).decode
_stats = msgspec.json.Decoder(_Stats).decode


def read(line: bytes) -> SlowRequest:
    """Return the slow request of a line. Raises Malformed."""
    if APPLY not in line:
        return _read_stats(line)
    entry = decoded(_apply, line, WHAT)
    what = entry.prefix.removeprefix("read-only ").strip()
    return SlowRequest(
        source="apply", what=what if what in ("range", "txn") else "write", at=zap_time(entry.ts),
        took=duration(entry.took), keys=_number(_KEYS, entry.response, -1),
        size=_number(_SIZE, entry.response, -1), failed=bool(entry.error), **_range(entry.request),
    )  # fmt: skip


def _read_stats(line: bytes) -> SlowRequest:
    entry = decoded(_stats, line, WHAT)
    return SlowRequest(
        source="stats",
        what="range" if entry.kind.rpartition("/")[2] in ("Range", "RangeStream") else "write",
        at=zap_time(entry.ts), took=duration(entry.spent), keys=entry.keys, size=entry.size,
        **_range(entry.content),
    )  # fmt: skip


def _range(text: str) -> dict[str, Any]:
    """Return what a SlowRequest has of a request as etcd prints it."""
    key, end = _KEY.search(text), _END.search(text)
    return {
        "key": key[1] if key else "",
        "range_end": end[1] if end else "",
        "limit": _number(_LIMIT, text, 0),
        "revision": _number(_REVISION, text, 0),
    }


def _number(pattern: re.Pattern[str], text: str, otherwise: int) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else otherwise
