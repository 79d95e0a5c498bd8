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

SHAPES = 256  # dropped, the longest unused first
ASKED = 64  # requests kept per shape
ACCOUNTS = 64
CLIENTS = 16  # per account
# How often something must repeat before it counts as a pattern.
REPEATS = 3
# Requests within this many seconds of one another count as simultaneous.
TOGETHER_SECONDS = 5.0
OWN_AGENT = "ktui/"
READS = ("GET", "LIST", "WATCH")
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
        """True if it continues a LIST."""
        return "continue=" in self.query

    @property
    def same(self) -> frozenset[tuple[str, str]]:
        """Its parameters without page token and resourceVersion N: a poll resumes where it was."""
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

    def saw(self, started: RequestStarted) -> None:
        """Record a request."""
        if started.verb not in READS or not started.resource:
            return
        shape = _shape(started)
        found = self._shapes.get(shape)
        if found is None:
            found = self._shapes[shape] = deque(maxlen=ASKED)
            if len(self._shapes) > SHAPES:
                self._shapes.popitem(last=False)
        else:
            self._shapes.move_to_end(shape)
        found.append(_asked(started))
        if started.user:
            self._used(started.user, started.client)

    def of(self, row: RequestRow) -> AccessPattern:
        """What is known of the client that sent `row`."""
        from ktui.kube.access_pattern import AccessPattern  # start-up time

        started, done = row.started, row.finished
        seen = self._shapes.get(_shape(started), deque())
        same = _asked(started).same
        mine = [asked for asked in seen if asked.same == same]
        together = _together(seen, started.at)
        polls = [asked for asked in mine if not asked.page]
        return AccessPattern(
            repeated_every=_interval(polls),
            times=len(polls),
            pages=_pages(mine, started),
            agents=max(together, 1),
            together=together > 1,
            node=started.user.removeprefix(_NODE) if started.user.startswith(_NODE) else "",
            account=started.user,
            account_shared_with=tuple(sorted(self._accounts.get(started.user, set()) - {started.client})),
            accept=started.accept or None,
            answer_bytes=done.encoded_bytes if done is not None and done.status == 200 else None,
        )

    def of_target(self, path: str) -> AccessPattern:
        """What is known of the client that sends exactly this request most often, except ktui."""
        from ktui.kube.access_pattern import UNKNOWN, AccessPattern  # start-up time

        plain, _, query = path.partition("?")
        same, best, client = ClientRequest(0.0, "", query).same, list[ClientRequest](), ""
        for (agent, _, asked_path, _), seen in self._shapes.items():
            if asked_path != plain or agent.startswith(OWN_AGENT):
                continue
            polls = [asked for asked in seen if asked.same == same and not asked.page]
            if len(polls) > len(best):
                best, client = polls, _short(agent)
        every = _interval(best)
        return (
            AccessPattern(client=client, repeated_every=every, times=len(best))
            if every is not None
            else UNKNOWN
        )

    def _used(self, user: str, client: str) -> None:
        clients = self._accounts.setdefault(user, set())
        self._accounts.move_to_end(user)
        if len(clients) < CLIENTS:
            clients.add(client)
        if len(self._accounts) > ACCOUNTS:
            self._accounts.popitem(last=False)


def _shape(started: RequestStarted) -> Shape:
    """The parts that agents of one kind have in common."""
    parts = (
        part.partition("=") for part in started.query.split("&") if part and not part.startswith("continue=")
    )
    query = "&".join(name if name in _VALUES else f"{name}{sign}{value}" for name, sign, value in parts)
    return started.user_agent, started.verb, started.path, query


def _short(user_agent: str) -> str:
    return user_agent.split()[0].split("/")[0] if user_agent else ""


def _asked(started: RequestStarted) -> ClientRequest:
    return ClientRequest(started.at, started.peer, started.query)


def _interval(polls: Sequence[ClientRequest]) -> float | None:
    """Seconds between two requests of one client; None if it does not repeat.

    Clients are told apart by their connections; without these they count as one.
    """
    by_peer: dict[str, list[float]] = {}
    for asked in polls:
        by_peer.setdefault(asked.peer, []).append(asked.at)
    longest = max(by_peer.values(), key=len, default=[])
    times = longest if len(longest) > REPEATS else [asked.at for asked in polls]
    if len(times) <= REPEATS:
        return None
    from statistics import median  # slow to load: not before the first frame

    return median(later - earlier for earlier, later in pairwise(times))


def _together(seen: Iterable[ClientRequest], at: float) -> int:
    """Number of agents that sent the same at about that time; 0 for one, or if connections are unknown.

    Identical requests from one host count as one client that reconnects each time.
    """
    near = [asked for asked in seen if abs(asked.at - at) <= TOGETHER_SECONDS and not asked.page]
    peers = {asked.peer for asked in near}
    hosts = {peer.rpartition(":")[0] for peer in peers}
    different = len({asked.query for asked in near}) > 1
    agents = len(peers) if different else len(hosts)
    return agents if "" not in peers and agents > 1 else 0


def _pages(mine: Sequence[ClientRequest], started: RequestStarted) -> int:
    """Pages fetched one after the other up to this one, over its connection."""
    count = 0
    for asked in reversed([asked for asked in mine if asked.peer == started.peer and asked.at <= started.at]):
        count += 1
        if not asked.page:
            break
    return count if _asked(started).page else 0
