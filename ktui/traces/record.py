"""One request, as traces say it happened."""

from __future__ import annotations

import msgspec

SPANS, TRACE_LINES = "otlp", "klog trace"
"""Sources of records."""


class TracedRequest(msgspec.Struct, gc=False):
    """A request as its spans (or its klog trace) tell it. Numbers that they do not tell are -1.

    `at` is when it arrived, microseconds since 1970, `took` microseconds until its end. `verb` is the API's
    (`list`), for a path without a resource the HTTP method in lower case. `path` has the query where `query`
    is True. `route`: `cache`, `etcd`, `none` (no object was read), or "" where it is not told; `why` says by
    which span or event it is known. `fallback`: the cache was asked and etcd served it; None where not told.
    `scanned` and `returned` are objects; `body` is the bytes of the response as sent. `stages`: milliseconds
    by name, in order. `complete` is False if its server span did not come: it still runs, or spans were lost.
    """

    verb: str
    path: str
    at: int
    took: int
    audit_id: str = ""
    user_agent: str = ""
    client: str = ""
    peer: str = ""
    status: int = -1
    route: str = ""
    why: str = ""
    fallback: bool | None = None
    scanned: int = -1
    returned: int = -1
    body: int = -1
    stages: dict[str, float] = msgspec.field(default_factory=dict)
    complete: bool = True
    query: bool = True
    source: str = SPANS
    trace_id: str = ""
    name: str = ""
    accept: str = ""
    probes: int = 0  # revision probes
    rpcs: int = 0  # RPCs to etcd, probes included
    weight: int = 1  # the requests that it stands for: those of a sampled trace
    continues: bool = False  # a WATCH that was reported before, when its initial events were sent


STAGES = (
    "authentication", "audit", "impersonation", "flow control", "authorization", "admission", "ready",
    "probe", "wait", "list", "get", "etcd", "transform", "initial events", "encode", "send", "other",
)  # fmt: skip
"""The stages in the order in which a request passes them."""
