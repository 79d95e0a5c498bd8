"""kube-apiserver's request log with `--logging-format=json`: httplog's fields as JSON.

{"ts":1787475354330.84,"caller":"httplog/httplog.go:132","msg":"HTTP","v":3,"verb":"LIST","URI":"/api/v1/pods",
 "latency":"1.926865ms","userAgent":"…","audit-ID":"…","srcIP":"…","apf_iseats":1,"resp":200}
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ktui.audit.formats.go_formats import duration, zap_time
from ktui.audit.formats.httplog import READS, SLOW
from ktui.audit.formats.record import WRITES, LoggedRequest, Skip, Spent, decoded

_Count = Annotated[int, msgspec.Meta(ge=-1, le=10**9)]
_MILLISECONDS = 1e11  # above: milliseconds since 1970, as klog writes; below: seconds, as zap does


class _Line(msgspec.Struct, gc=False):
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


def read(line: bytes, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of a line; without `writes`, WRITES if it does not read. Raises Malformed."""
    entry = decoded(_decode, line, "an httplog line in JSON")
    if not writes and entry.verb.encode() not in READS:
        return WRITES
    took = duration(entry.latency) if isinstance(entry.latency, str) else round(entry.latency * 1e6)
    inits = [duration(text) for text in (entry.apf_init, entry.watchlist_init) if text]
    waited = took - duration(entry.execution) if entry.execution else -1
    return LoggedRequest(
        verb=entry.verb,
        uri=entry.uri,
        agent=entry.agent,
        user="",
        at=_time(entry.ts),
        took=took,
        code=entry.resp if entry.resp <= 999 else -1,
        seats=entry.seats,
        init=max(inits, default=-1),
        id=entry.id,
        spent=Spent(took, queue=max(0, waited), etcd=-1) if took > SLOW and entry.execution else None,
    )


def _time(ts: str | float) -> int:
    return zap_time(ts / 1000 if not isinstance(ts, str) and ts > _MILLISECONDS else ts)
