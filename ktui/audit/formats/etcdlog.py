"""etcd's JSON log: "apply request took too long" and "request stats" (3.4–3.7)."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from ktui.audit.formats.log_record import SlowRequest, decoded, duration, zap_time

APPLY = b"apply request took too long"
STATS = b'"request stats"'
WHAT = "a line of etcd's log"

_TEXTS = {name: re.compile(rf'\b{name}:"((?:[^"\\]|\\.)*)"') for name in ("key", "range_end")}
_NUMBERS = {
    name: re.compile(rf"\b{name}:(\d{{1,19}})\b")
    for name in ("limit", "revision", "range_response_count", "size")
}
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
        took=duration(entry.took), keys=_number("range_response_count", entry.response, -1),
        size=_number("size", entry.response, -1), failed=bool(entry.error), **_range(entry.request),
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
    texts = {name: found[1] if (found := pattern.search(text)) else "" for name, pattern in _TEXTS.items()}
    return {**texts, "limit": _number("limit", text, 0), "revision": _number("revision", text, 0)}


def _number(name: str, text: str, otherwise: int) -> int:
    found = _NUMBERS[name].search(text)
    return int(found[1]) if found else otherwise
