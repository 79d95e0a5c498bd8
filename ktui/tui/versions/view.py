"""The Versions screen's rows: the request in hand under every minor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ktui.core.format import integer
from ktui.core.prediction.foresee import cheaper_of, routing_state, server_behaviour
from ktui.core.prediction.outlook import Cheaper
from ktui.core.prediction.sizes import estimated_seats
from ktui.core.selection import InHand
from ktui.core.state import State
from ktui.kube.across import Under, across
from ktui.kube.advice import advise
from ktui.kube.explain import explain
from ktui.kube.flowcontrol import LEVELS, PriorityLevel, told_level
from ktui.kube.gates import phase_of
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.predict import predict, predict_seats
from ktui.kube.routing.request import ReadRequest, RequestError
from ktui.kube.routing.world import world_of
from ktui.kube.seats import SeatRange, flow_controlled
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError, behaviour_of


@dataclass(frozen=True, slots=True, eq=False)
class VersionRow:
    """The request under one version, or under several in a row that do not differ (`last`).

    `current`: the version that the server follows is (among) it.
    """

    under: Under
    current: bool
    first: bool  # nothing to compare with
    last: str = ""

    @property
    def version(self) -> str:
        return self.under.version

    @property
    def versions(self) -> str:
        """`1.31`, `1.31 – 1.33`."""
        return f"{self.version} – {self.last}" if self.last else self.version

    def covers(self, minor: int) -> bool:
        """Whether the row stands for this minor."""
        first = self.under.behaviour.minor
        return first <= minor <= (behaviour_of(self.last).minor if self.last else first)

    def changed(self, *aspects: str) -> bool:
        return not self.under.changed.isdisjoint(aspects)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, and of which cache they speak; `problem` says why there are none."""

    rows: tuple[VersionRow, ...] = ()
    cache: str = ""
    problem: str = ""
    request: ReadRequest | None = None
    world: CacheState = field(default_factory=CacheState)
    level: PriorityLevel | None = None

    def document(self, row: VersionRow) -> dict[str, Any]:
        """All that the rules of one version say, as `ktui explain --json` does."""
        if self.request is None:
            return {}
        return explain(self.request, self.world, row.under.behaviour, level=self.level).document()

    def cheaper(self, row: VersionRow) -> tuple[Cheaper, ...]:
        """Cheaper forms of the request under the rules of one version."""
        request = self.request
        if request is None:
            return ()
        found = advise(request, self.world, row.under.behaviour)
        return tuple(cheaper_of(request.url, advice) for advice in found)

    @property
    def groups(self) -> tuple[VersionRow, ...]:
        """One row for versions in a row that do not differ."""
        groups: list[VersionRow] = []
        for row in self.rows:
            if row.first or row.under.changed:
                groups.append(row)
            else:
                before = groups[-1]
                groups[-1] = replace(before, last=row.version, current=before.current or row.current)
        return tuple(groups)

    @property
    def limits(self) -> bool:
        """Whether there is a limit that some version honours or ignores."""
        return any(row.under.outcome.limit is not None for row in self.rows)

    @property
    def changes(self) -> int:
        return sum(bool(row.under.changed) for row in self.rows)


def matrix_of(in_hand: InHand, state: State) -> Matrix:
    """The request under every minor, with the cache as it is now where the server told of it."""
    try:
        request = in_hand.read()
    except RequestError as error:
        return Matrix(problem=str(error))
    resource = resource_id(request)
    cache, about = _cache(request, resource, state)
    current = followed_behaviour(state)
    level = level_named(in_hand.level)

    behaviours = [
        current if current is not None and current.minor == one.minor else one
        for one in map(behaviour_of, KNOWN_VERSIONS)
    ]
    under = across(
        request,
        cache,
        behaviours=behaviours,
        seats=lambda behaviour: _seats(request, behaviour, resource, state, level),
    )
    rows = (VersionRow(one, one.behaviour is current, one is under[0]) for one in under)
    return Matrix(tuple(rows), about, request=request, world=cache, level=level)


def followed_behaviour(state: State) -> Behaviour | None:
    """The server's rules; None without a server, or for one whose version is not known here."""
    try:
        return server_behaviour(state) if state.server is not None else None
    except BehaviourError:
        return None


def routes_under(in_hand: InHand, state: State, *behaviours: Behaviour) -> list[str]:
    """The route under each of these rules; empty when the request cannot be understood."""
    try:
        request = in_hand.read()
    except RequestError:
        return []
    cache, _ = _cache(request, resource_id(request), state)
    return [predict(request, cache, behaviour).source.value for behaviour in behaviours]


def level_named(name: str) -> PriorityLevel | None:
    """By which ktui's server tells the seats of a request that falls under the level of that name."""
    level = LEVELS.get(name)
    return told_level(level) if level is not None else None


def _seats(
    request: ReadRequest, behaviour: Behaviour, resource: str, state: State, level: PriorityLevel | None
) -> SeatRange:
    """By the resource's size where that is known and the version looks at it."""
    cap = level.max_seats if level is not None else None
    if request.verb == "list" and behaviour.minor >= 23 and flow_controlled(behaviour):
        known = estimated_seats(request, behaviour, state, resource, cap)
        if known is not None:
            return SeatRange(known, known)
    return predict_seats(request, behaviour, progress=state.progress, cap=cap)


def resource_id(request: ReadRequest) -> str:
    """The resource's id: `pods`, `leases.coordination.k8s.io`."""
    return request.resource.id if request.resource is not None else request.info.resource_id


def _cache(request: ReadRequest, resource: str, state: State) -> tuple[CacheState, str]:
    row = state.caches.get(resource)
    if row is None or not row.live:
        ready = world_of(request, progress=state.progress)
        return ready, "with a cache that is ready and at the revision asked for"
    return routing_state(resource, state), f"with the cache as it is now, at rv {integer(row.rv)}"


def causes_text(row: VersionRow) -> str:
    """`+ConsistentListFromCache`, `−WatchList`, `1.23 itself`."""
    words = [
        f"{'+' if cause.on else '−'}{cause.gate}" if cause.gate else f"{row.version} itself"
        for cause in row.under.causes
    ]
    return ", ".join(words)


def cause_sentences(row: VersionRow) -> list[str]:
    """Each cause with its stage and what it changed."""
    said = []
    for cause in row.under.causes:
        aspects = ", ".join(sorted(cause.aspects))
        phase = phase_of(cause.gate, row.under.behaviour.minor) if cause.gate else None
        stage = f" ({phase.stage})" if phase is not None else ""
        gate = f"{cause.gate}{stage} {'on' if cause.on else 'off'}" if cause.gate else "itself, by no gate"
        said.append(f"{gate}: {aspects}")
    return said
