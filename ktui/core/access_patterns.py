"""Access patterns of clients, from the requests in the log, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl

from ktui.contract.events import RequestStarted

if TYPE_CHECKING:
    from ktui.core.rows import RequestRow
    from ktui.kube.access_pattern import AccessPattern

SHAPES = 256  # beyond this, the longest unused shape is dropped
REQUESTS_PER_SHAPE = 64
ACCOUNTS = 64
CLIENTS = 16  # per account
# How often something must repeat before it counts as a pattern.
REPEATS = 3
# Requests within this many seconds of one another count as simultaneous.
TOGETHER_SECONDS = 5.0
OWN_AGENT = "ktui/"
READS = ("GET", "LIST", "WATCH")
# Clients that are known to split a collection among their replicas (kube-state-metrics: --shard).
KEEP_PARTS = ("kube-state-metrics",)
_NODE = "system:node:"
# Parameters whose values are not part of the shape: each agent has its own.
_VALUES = ("fieldSelector", "labelSelector", "resourceVersion")


class ClientRequest(NamedTuple):
    """One request: when (Unix seconds), over which connection, and its query."""

    at: float
    peer: str
    query: str

    @property
    def page(self) -> bool:
        """True if this is a further page of a LIST (it has a continue token)."""
        return "continue=" in self.query

    @property
    def identity(self) -> frozenset[tuple[str, str]]:
        """The parameters by which a request repeats: no page token, and no resourceVersion but 0."""
        return frozenset(
            (name, value)
            for name, value in parse_qsl(self.query, keep_blank_values=True)
            if name != "continue" and not (name == "resourceVersion" and value != "0")
        )


Shape = tuple[str, str, str, str]


class AccessPatterns:
    """Requests by client and shape, and the clients of each account."""

    def __init__(self) -> None:
        self._shapes: OrderedDict[Shape, deque[ClientRequest]] = OrderedDict()
        self._accounts: OrderedDict[str, set[str]] = OrderedDict()

    def add(self, started: RequestStarted) -> None:
        if started.verb not in READS or not started.resource:
            return
        shape = _shape(started)
        found = self._shapes.get(shape)
        if found is None:
            found = self._shapes[shape] = deque(maxlen=REQUESTS_PER_SHAPE)
            if len(self._shapes) > SHAPES:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(shape)
        found.append(_client_request(started))
        if started.user:
            clients = self._accounts.setdefault(started.user, set())
            self._accounts.move_to_end(started.user)
            if len(clients) < CLIENTS:
                clients.add(started.client)
            if len(self._accounts) > ACCOUNTS:
                self._accounts.popitem(last=False)

    def of(self, row: RequestRow) -> AccessPattern:
        """Return the access pattern of the client that sent the request of `row`."""
        from ktui.kube.access_pattern import AccessPattern  # start-up time

        started, done = row.started, row.finished
        seen = self._shapes.get(_shape(started), deque())
        identity = _client_request(started).identity
        mine = [request for request in seen if request.identity == identity]
        together = _together(seen, started.at)
        polls = [request for request in mine if not request.page]
        watch = started.user_agent, "WATCH", started.path  # of the same collection, by the same client
        return AccessPattern(
            repeated_every=_interval(polls), times=len(polls), pages=_pages(mine, started),
            agents=max(together, 1), together=together > 1,
            informer=started.verb == "LIST" and any(shape[:3] == watch for shape in self._shapes),
            keeps_part=together > 1 and _short(started.client) in KEEP_PARTS,
            node=started.user.removeprefix(_NODE) if started.user.startswith(_NODE) else "",
            account=started.user, accept=started.accept or None,
            account_shared_with=tuple(sorted(self._accounts.get(started.user, set()) - {started.client})),
            answer_bytes=done.encoded_bytes if done is not None and done.status == 200 else None,
        )  # fmt: skip

    def of_target(self, path: str) -> AccessPattern:
        """Return the access pattern of the client, other than ktui, that sends `path` most often."""
        from ktui.kube.access_pattern import UNKNOWN, AccessPattern  # start-up time

        plain, _, query = path.partition("?")
        identity, best, client = ClientRequest(0.0, "", query).identity, list[ClientRequest](), ""
        for (agent, _, shape_path, _), seen in self._shapes.items():
            if shape_path != plain or agent.startswith(OWN_AGENT):
                continue
            polls = [each for each in seen if each.identity == identity and not each.page]
            if len(polls) > len(best):
                best, client = polls, _short(agent)
        every = _interval(best)
        if every is None:
            return UNKNOWN
        return AccessPattern(client=client, repeated_every=every, times=len(best))


def _shape(started: RequestStarted) -> Shape:
    """Return user agent, verb, path and query; the query without values that differ between agents."""
    parts = (
        part.partition("=") for part in started.query.split("&") if part and not part.startswith("continue=")
    )
    query = "&".join(name if name in _VALUES else f"{name}{sign}{value}" for name, sign, value in parts)
    return started.user_agent, started.verb, started.path, query


def _short(user_agent: str) -> str:
    return user_agent.split()[0].split("/")[0] if user_agent else ""


def _client_request(started: RequestStarted) -> ClientRequest:
    return ClientRequest(started.at, started.peer, started.query)


def _interval(polls: Sequence[ClientRequest]) -> float | None:
    """Return the median seconds between two requests of one client; None if it does not repeat.

    Clients are told apart by their connections; without these they count as one.
    """
    by_peer: dict[str, list[float]] = {}
    for request in polls:
        by_peer.setdefault(request.peer, []).append(request.at)
    longest = max(by_peer.values(), key=len, default=[])
    times = longest if len(longest) > REPEATS else [request.at for request in polls]
    if len(times) <= REPEATS:
        return None
    from statistics import median  # slow to load: not before the first frame

    return median(later - earlier for earlier, later in pairwise(times))


def _together(seen: Iterable[ClientRequest], at: float) -> int:
    """Return how many agents sent this shape around `at`; 0 for one agent or if connections are unknown.

    Identical requests from one host count as one client that reconnects each time.
    """
    near = [each for each in seen if abs(each.at - at) <= TOGETHER_SECONDS and not each.page]
    peers = {each.peer for each in near}
    hosts = {peer.rpartition(":")[0] for peer in peers}
    different = len({each.query for each in near}) > 1
    agents = len(peers) if different else len(hosts)
    return agents if "" not in peers and agents > 1 else 0


def _pages(mine: Sequence[ClientRequest], started: RequestStarted) -> int:
    """Return the number of consecutive pages up to `started`, over its connection; 0 if it is no page."""
    count = 0
    before = [each for each in mine if each.peer == started.peer and each.at <= started.at]
    for request in reversed(before):
        count += 1
        if not request.page:
            break
    return count if _client_request(started).page else 0
