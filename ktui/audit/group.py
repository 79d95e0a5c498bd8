"""Groups of logged requests: of one client and shape, or slow etcd requests of one range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ktui.audit.formats.log_record import LoggedRequest, SlowRequest, Spent
from ktui.audit.observed import SlowRequests, TracedRequests, numbers_of, source_of
from ktui.contract.events.base import Count
from ktui.core.ranking.shape import RequestShape
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.kube.resources import BUILTIN

_LONGEST_NAME = 80
_SERVICE_ACCOUNT = "system:serviceaccount:"
# kube-controller-manager's controllers have their account's name at the end of the user agent.
_IN_AGENT = re.compile(r"system:serviceaccount:[-a-z0-9]+:[-a-z0-9.]+")


class Client(NamedTuple):
    """`agent`: the user agent's first word (`kubelet/v1.28.0`), "" without one. `user`: an account,
    `NAMESPACE/NAME` for a ServiceAccount, `system:node:*` for every kubelet, "" if unknown."""

    agent: str
    user: str

    @property
    def account(self) -> str:
        """The user name of a ServiceAccount, "" for other users."""
        return _SERVICE_ACCOUNT + self.user.replace("/", ":") if "/" in self.user else ""


def client_of(agent: str, user: str) -> Client:
    words = agent.split(None, 1)
    named = None if user else _IN_AGENT.search(agent)
    account = named[0] if named else user
    if account.startswith(_SERVICE_ACCOUNT):
        account = account.removeprefix(_SERVICE_ACCOUNT).replace(":", "/", 1)
    elif account.startswith("system:node:"):  # one group for all nodes: ten thousand kubelets are one client
        account = "system:node:*"
    return _client(words[0][:_LONGEST_NAME] if words else "", account[:_LONGEST_NAME])


_client = lru_cache(maxsize=8192)(Client)  # equal clients are one object, which is faster to look up


class AuditGroupKey(NamedTuple):
    """`query` is False if the log leaves out query strings: the shape is that of the path alone."""

    client: Client
    shape: RequestShape
    query: bool = True


class AuditGroup(msgspec.Struct, array_like=True):
    """The logged requests of one client and shape. `example` is the URI of the first one.

    `index` is the group's number in the Tally's journal.
    """

    key: AuditGroupKey
    example: str
    index: int = -1
    done: Count = 0
    started: Count = 0
    took: LatencyHistogram = msgspec.field(default_factory=LatencyHistogram)
    init: LatencyHistogram = msgspec.field(default_factory=LatencyHistogram)
    codes: dict[int, Count] = {}
    seats_total: Count = 0
    seats_count: Count = 0
    seats_max: Count = 0
    slow: SlowRequests | None = None
    traced: TracedRequests | None = None

    def add(self, request: LoggedRequest) -> None:
        if request.init >= 0 or request.seats >= 0:
            self.add_seats(request.seats, request.init)
        if request.traced is not None:
            self.add_traced(numbers_of(request.traced))
        if not request.done:
            self.started += 1
            return
        self.add_done(request.took, request.code, request.spent)

    def add_done(self, took: int, code: int, spent: Spent | None = None, times: int = 1) -> None:
        """Count a finished request; `times` -1 removes one, more is for one that stands for others."""
        self.done += times
        if took >= 0:
            self.took.add(took, times)
        if 400 <= code <= 999:
            self.codes[code] = self.codes.get(code, 0) + times
        if spent is not None:
            self.slow = self.slow or SlowRequests()
            self.slow.add(spent, source_of(spent, self.key.shape, code), times)

    def add_traced(self, numbers: Sequence[int], times: int = 1) -> None:
        self.traced = self.traced or TracedRequests()
        self.traced.add(numbers, times)

    def add_seats(self, seats: int, init: int, times: int = 1) -> None:
        """Add seats and initial latency of one request, -1 if unknown; `times` -1 removes them."""
        if init >= 0:
            self.init.add(init, times)
        if seats >= 0:
            self.seats_count += times
            self.seats_total += times * seats
            self.seats_max = max(self.seats_max, seats)

    def merge(self, other: AuditGroup) -> None:
        self.done += other.done
        self.started += other.started
        self.took.merge(other.took)
        self.init.merge(other.init)
        for code, count in other.codes.items():
            self.codes[code] = self.codes.get(code, 0) + count
        self.seats_total += other.seats_total
        self.seats_count += other.seats_count
        self.seats_max = max(self.seats_max, other.seats_max)
        if other.slow is not None:
            self.slow = self.slow or SlowRequests()
            self.slow.merge(other.slow)
        if other.traced is not None:
            self.traced = self.traced or TracedRequests()
            self.traced.merge(other.traced)

    def copy(self) -> AuditGroup:
        made = AuditGroup(self.key, self.example, self.index)
        made.merge(self)
        return made

    @property
    def count(self) -> int:
        """The number of requests; the log may have the start of a WATCH, its end, or both."""
        return max(self.done, self.started)

    @property
    def cost(self) -> int:
        """Microseconds of all requests together; of a WATCH only until it was live, if logged."""
        return self.init.total if self.key.shape.verb == "watch" else self.took.total


class RangeKey(NamedTuple):
    """`source` and `what` as in SlowRequest. `scope`: `all`, `namespace`, `key`, or "" for a write.

    `resource` is an id, or the start of the key if the resource is unknown. `later`: a further
    page; `pinned`: read at a given revision.
    """

    source: str
    what: str
    resource: str
    scope: str
    limit: int
    later: bool
    pinned: bool


class SlowGroup(msgspec.Struct, array_like=True):
    """Slow etcd requests of one kind. `keys` and `size` are the maxima, -1 if never logged."""

    key: RangeKey
    example: str
    took: LatencyHistogram = msgspec.field(default_factory=LatencyHistogram)
    keys: int = -1
    size: int = -1
    failed: Count = 0

    def add(self, slow: SlowRequest) -> None:
        self.took.add(slow.took)
        self.keys = max(self.keys, slow.keys)
        self.size = max(self.size, slow.size)
        self.failed += slow.failed

    def merge(self, other: SlowGroup) -> None:
        self.took.merge(other.took)
        self.keys = max(self.keys, other.keys)
        self.size = max(self.size, other.size)
        self.failed += other.failed

    @property
    def count(self) -> int:
        return self.took.count

    @property
    def cost(self) -> int:
        return self.took.total


_LONGEST = 120


def range_key(slow: SlowRequest, etcd_prefix: str) -> RangeKey:
    """Return the group of a slow request; `etcd_prefix` is kube-apiserver's, such as `/registry`."""
    start, end = slow.key, slow.range_end
    prefix = end[:-1] + "/"  # the range of `/registry/pods/` ends at `/registry/pods0`, as `0` follows `/`
    base = prefix if end.endswith("0") and start.startswith(prefix) else start
    resource, rest = resource_of(base, etcd_prefix)
    scope = "" if slow.what == "write" else "key" if not end else "namespace" if rest else "all"
    later, pinned = start != base, slow.revision > 0
    return RangeKey(slow.source, slow.what, resource, scope, slow.limit, later, pinned)


def resource_of(key: str, etcd_prefix: str) -> tuple[str, str]:
    """Return the resource id of a key or prefix, and the rest after the resource's prefix.

    For a key outside `etcd_prefix` or of an unknown resource, the start of the key instead of an id.
    """
    root = etcd_prefix.rstrip("/") + "/"
    if not key.startswith(root):
        return key[:_LONGEST], ""
    parts = key.removeprefix(root).split("/")
    for length in (2, 1):
        if len(parts) > length and (known := BUILTIN.by_prefix("/".join(parts[:length]) + "/")):
            return known.id, "/".join(parts[length:])
    if len(parts) > 2 and "." in parts[0]:  # the prefix of a custom resource begins with its group
        return f"{parts[1]}.{parts[0]}"[:_LONGEST], "/".join(parts[2:])
    return (root + parts[0])[:_LONGEST], "/".join(parts[1:])
