"""The names of spans, attributes and events by Kubernetes version: the only place that spells them.

Read from upstream's source of 1.25 to 1.37 (and 1.38-alpha). Where a name changed, every name is accepted:
a trace does not say the version of its apiserver. A span with another name is counted under it.

| version | what changed |
|---|---|
| 1.25 | the server span `KubernetesAPI` and etcd RPCs only; `cacher list` and others in klog lines |
| 1.26 | handlers, cacher and etcd3 functions are spans |
| 1.27 | a span for each filter (`audit`, `authorization`, …) |
| 1.31 | the server span is named after method and route: `GET /api/v1/pods` |
| 1.32 | `cacher list` → `cacher.GetList`; `cacher.Get` with its decision as an event |
| 1.33 | the server span is below `authentication`, and only for privileged callers in its trace |
| 1.34 | `audit-id` on the server span |
| 1.36 | `cacher.Watch`, `WatchList`, `WatchServer.HandleHTTP`; HTTP attributes of semantic conventions 1.2x |
| 1.37 | `cacher.Get` only where the cache answers; `Get etcd3`; the revision probe is a plain read |
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class Role(IntEnum):
    """What a span is in the tree of a request."""

    OTHER = 0
    SERVER = 1  # the request itself
    FILTER = 2  # a filter before the handler
    HANDLER = 3
    CACHE_LIST = 4
    CACHE_GET = 5
    CACHE_WATCH = 6
    ETCD_LIST = 7  # also the revision probe of a consistent read
    ETCD_GET = 8
    ETCD_WRITE = 9
    ETCD_RPC = 10
    ENCODE = 11
    WATCH_STREAM = 12
    WEBHOOK = 13
    TRANSFORM = 14
    CLIENT = 15  # a request that the apiserver sends


SERVER_NAME = "KubernetesAPI"  # up to 1.30
SERVICE = "apiserver"
SERVICE_KEY = "service.name"

AUTHENTICATION, AUDIT, AUTHORIZATION = "authentication", "audit", "authorization"
FLOW_CONTROL = "priorityandfairness"
FILTERS = {
    AUTHENTICATION: "authentication",
    AUDIT: "audit",
    "impersonation": "impersonation",
    "constrainedimpersonation": "impersonation",  # 1.36, with the gate on
    FLOW_CONTROL: "flow control",
    AUTHORIZATION: "authorization",
}
"""Filters by span, with the name of their stage."""

HANDLERS = {
    "List": "list",
    "Get": "get",
    "WatchList": "watch",  # 1.36; a WATCH without initial events has no handler's span
    "Create": "create",
    "Update": "update",
    "Patch": "patch",
    "Delete": "delete",
}

_ROLES = {
    **dict.fromkeys(FILTERS, Role.FILTER),
    **dict.fromkeys(HANDLERS, Role.HANDLER),
    SERVER_NAME: Role.SERVER,
    "cacher list": Role.CACHE_LIST,  # up to 1.31
    "cacher.GetList": Role.CACHE_LIST,  # 1.32
    "cacher.Get": Role.CACHE_GET,  # 1.32
    "cacher.Watch": Role.CACHE_WATCH,  # 1.36
    "List(recursive=true) etcd3": Role.ETCD_LIST,
    "List(recursive=false) etcd3": Role.ETCD_LIST,
    "Get etcd3": Role.ETCD_GET,  # 1.37
    "Create etcd3": Role.ETCD_WRITE,
    "GuaranteedUpdate etcd3": Role.ETCD_WRITE,
    "Delete etcd3": Role.ETCD_WRITE,
    "SerializeObject": Role.ENCODE,
    "WatchServer.HandleHTTP": Role.WATCH_STREAM,  # 1.36
    "Call mutating webhook": Role.WEBHOOK,
    "Call validating webhook": Role.WEBHOOK,
    "TransformFromStorage with envelopeTransformer": Role.TRANSFORM,
    "TransformToStorage with envelopeTransformer": Role.TRANSFORM,
    "cacher.getKeys": Role.OTHER,  # 1.37: no request's
}
_RPC = re.compile(r"etcdserverpb\.(\w+)/(\w+)")
_CLIENT = re.compile(r"HTTP [A-Z]+|[A-Z]+|Proxy via .*")
RECURSIVE = "List(recursive=true) etcd3"


@lru_cache(maxsize=4096)
def role_of(name: str) -> Role | None:
    """Return the role of a span that is no server span; None for an unknown name."""
    role = _ROLES.get(name)
    if role is None and _RPC.fullmatch(name):
        return Role.ETCD_RPC
    if role is None and _CLIENT.fullmatch(name):
        return Role.CLIENT
    return role


# RPCs that read or write objects; others (leases, status, compaction) serve no request.
READ_RPCS = ("etcdserverpb.KV/Range", "etcdserverpb.KV/RangeStream")
WRITE_RPCS = ("etcdserverpb.KV/Txn", "etcdserverpb.KV/Put", "etcdserverpb.KV/DeleteRange")
WATCH_RPC = "etcdserverpb.Watch/Watch"

# Attributes of the server span. The first name is that of 1.36 (otelhttp 0.60 and later).
TARGET = ("http.target",)  # path and query; from 1.29 on kube-apiserver adds it itself
PATH = ("url.path",)
QUERY = ("url.query",)
METHOD = ("http.request.method", "http.method")
STATUS = ("http.response.status_code", "http.status_code")
BODY = ("http.response.body.size", "http.wrote_bytes", "http.response_content_length")
AGENT = ("user_agent.original", "http.user_agent")
CLIENT = ("client.address", "http.client_ip", "network.peer.address", "net.sock.peer.addr", "net.peer.ip")
PEER_PORT = ("network.peer.port", "net.sock.peer.port", "net.peer.port")
AUDIT_ID = "audit-id"  # on the server span from 1.34 on, on the handler's span always

# Attributes of a handler's span.
HANDLER_AGENT, HANDLER_URL, HANDLER_VERB, HANDLER_CLIENT = "user-agent", "url", "verb", "client"
HANDLER_NAME, HANDLER_ACCEPT = "name", "accept"
# Attributes of etcd3's and the cacher's spans.
KEY, LIMIT, REVISION, CONTINUE = "key", "limit", "resourceVersion", "continue"
GET_REVISION = "resource-version"

# Events.
READY = "Ready"
LOCKED = "watchCache locked acquired"
FRESH = "watchCache fresh enough"
LISTED = "Listed items from cache"
FILTERED = "Filtered items"
RESIZED = "Resized result"
COUNT = "count"
FROM_STORAGE = "About to Get from underlying storage"  # also with ` - cache not initialized` behind it
NOT_READY = "cache not initialized"
FROM_CACHE = "About to fetch object from cache"
GET_STORAGE = "About to Get from storage"  # of the handler
WRITING = "About to start writing response"
WRITTEN = "Write call succeeded"
INITIAL_DONE = "Writing initial events done"

LISTED_EVENTS = (LISTED, FILTERED, RESIZED)
"""Events after which a cacher's LIST has been read from the cache."""
