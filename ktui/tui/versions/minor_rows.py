"""The Versions screen's rows: the selected request under every minor version."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ktui.core.format import integer
from ktui.core.prediction.assumptions import Assumptions, logged, server_behaviour
from ktui.core.prediction.prediction import cheaper_of, resource_id, seat_range
from ktui.core.prediction.sizes import size_in
from ktui.core.ranking.remedy import Alternative
from ktui.core.references import Selection
from ktui.core.state import State
from ktui.kube.advice import advise
from ktui.kube.explain import explain
from ktui.kube.flow_schemas import LEVELS, PriorityLevel, displayed_level
from ktui.kube.gates import phase_of
from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError
from ktui.kube.version_comparison import VersionResult, compare_versions
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, BehaviourError, behaviour_of


@dataclass(frozen=True, slots=True, eq=False)
class VersionRow:
    """The request under a version, or equal ones up to `last`; `current`: the server follows one of them."""

    under: VersionResult
    current: bool
    first: bool  # the oldest version, which is compared with none
    last: str = ""

    @property
    def version(self) -> str:
        return self.under.version

    @property
    def versions(self) -> str:
        """`1.31`, or `1.31 – 1.33` for several."""
        return f"{self.version} – {self.last}" if self.last else self.version

    def covers(self, minor: int) -> bool:
        """Return True if the row stands for this minor version."""
        first = self.under.behaviour.minor
        return first <= minor <= (behaviour_of(self.last).minor if self.last else first)

    def changed(self, *aspects: str) -> bool:
        return not self.under.changed.isdisjoint(aspects)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows; `cache` says what is assumed of the cache, `problem` why there are no rows."""

    rows: tuple[VersionRow, ...] = ()
    cache: str = ""
    problem: str = ""
    request: ReadRequest | None = None
    assumed: Assumptions | None = None

    @property
    def level(self) -> PriorityLevel | None:
        """The priority level of the requester; None if unknown."""
        return self.assumed.level if self.assumed is not None else None

    def document(self, row: VersionRow) -> dict[str, Any]:
        """Return all rules of one version for the request, as `ktui explain --json` does; {} without one."""
        if self.request is None or self.assumed is None:
            return {}
        return explain(self.request, self.assumed.cache, row.under.behaviour, level=self.level).document()

    def cheaper(self, row: VersionRow) -> tuple[Alternative, ...]:
        if self.request is None or self.assumed is None:
            return ()
        found = advise(self.request, self.assumed.cache, row.under.behaviour)
        return tuple(cheaper_of(self.request.url, advice) for advice in found)

    @property
    def groups(self) -> tuple[VersionRow, ...]:
        """The rows, with one for consecutive versions that do not differ."""
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
        """True if some version honours or ignores a limit of the request."""
        return any(row.under.outcome.limit is not None for row in self.rows)

    @property
    def changes(self) -> int:
        return sum(bool(row.under.changed) for row in self.rows)


def matrix_of(selection: Selection, state: State) -> Matrix:
    """Return the request under every minor version, with the cache's current state if it is known."""
    try:
        request = selection.read()
    except RequestError as error:
        return Matrix(problem=str(error))
    current = followed_behaviour(state)
    assumed, about = _assumptions(request, state, current or behaviour_of())
    assumed = replace(assumed, level=level_named(selection.level, state))
    behaviours = [
        current if current is not None and current.minor == each.minor else each
        for each in map(behaviour_of, KNOWN_VERSIONS)
    ]
    seats = partial(seat_range, request, assumed=assumed)
    under = compare_versions(request, assumed.cache, behaviours=behaviours, seats=seats)
    rows = (VersionRow(each, each.behaviour is current, each is under[0]) for each in under)
    return Matrix(tuple(rows), about, request=request, assumed=assumed)


def followed_behaviour(state: State) -> Behaviour | None:
    """Return the server's rules; None without a server, or if ktui does not know its version."""
    try:
        return server_behaviour(state) if state.server is not None else None
    except BehaviourError:
        return None


def routes_under(selection: Selection, state: State, *behaviours: Behaviour) -> list[str]:
    """Return the route under each of these rules; [] if the request is invalid."""
    try:
        request = selection.read()
    except RequestError:
        return []
    assumed, _ = _assumptions(request, state, behaviours[0])
    return [predict(request, assumed.cache, behaviour).source.value for behaviour in behaviours]


def level_named(name: str, state: State) -> PriorityLevel | None:
    """Return the priority level with this name, as the server computes seats for it; None if unknown.

    Of a live cluster as this has configured and limited it; None unless both are known.
    """
    if state.server is None or not state.server.scraped:
        level = LEVELS.get(name)
        return displayed_level(level) if level is not None else None
    live = state.live
    config = next((level for level in live.flow.levels if level.name == name), None) if live.flow else None
    if config is None:
        return None
    nominal = [
        int(gauges.nominal)
        for row in live.present
        if name in row.levels and (gauges := row.levels[name].last.gauges).nominal
    ]
    if config.hand_size and not nominal:
        return None
    return PriorityLevel(name, config.shares or 0, config.hand_size or 0, min(nominal, default=None))


def _assumptions(request: ReadRequest, state: State, behaviour: Behaviour) -> tuple[Assumptions, str]:
    """Return what is assumed of the cache, and that in words."""
    resource = resource_id(request)
    row = state.caches.get(resource)
    if row is None or not row.live:
        ready = assumed_state(request, progress=state.progress)
        about = "with a ready cache at the requested revision"
        return Assumptions(behaviour, ready, size_in(state, resource)), about
    return logged(state, resource), f"with the cache as it is now, at RV {integer(row.rv)}"


def causes_text(row: VersionRow) -> str:
    """Return `+ConsistentListFromCache`, `−WatchList` or `1.23 itself`, joined by commas."""
    return ", ".join(
        f"{'+' if cause.on else '−'}{cause.gate}" if cause.gate else f"{row.version} itself"
        for cause in row.under.causes
    )


def cause_sentences(row: VersionRow) -> list[str]:
    """Return a sentence per cause: the gate, its stage, and what it changed."""
    text = []
    for cause in row.under.causes:
        what = "the release itself, no gate"
        if cause.gate:
            phase = phase_of(cause.gate, row.under.behaviour.minor)
            stage = f" ({phase.stage})" if phase is not None else ""
            what = f"{cause.gate}{stage} {'on' if cause.on else 'off'}"
        text.append(f"{what}: {', '.join(sorted(cause.aspects))}")
    return text
