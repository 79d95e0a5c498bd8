"""The decision trace: each evaluated predicate, in order, with the values it saw."""

from __future__ import annotations

from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import Step
from ktui.kube.routing.predicates import Predicate

API_VALIDATION = "API validation"
STORE_LIST = "store.List"
STORE_GET = "store.Get"
STORE_WATCH = "store.Watch"
GET_LIST = "Cacher.GetList"
SHOULD_DELEGATE = "shouldDelegateList"
CACHER_GET = "Cacher.Get"
CACHER_WATCH = "Cacher.Watch"
WATCH_CACHE = "watchCache"
ETCD = "etcd3 store"
SHOULD_STREAM = "shouldStream"


class Trace:
    """Collects the steps. `ask` records a predicate and returns its value, for use in an if statement."""

    __slots__ = ("_steps", "phase")

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self._steps: list[Step] = []

    def enter(self, phase: str) -> None:
        """Set the kube-apiserver function that evaluates the following predicates."""
        self.phase = phase

    def ask(self, predicate: Predicate, holds: bool, *seen: str | int | bool | None) -> bool:
        self._steps.append(Step(predicate, seen, holds, self.phase))
        return holds

    def ahead_of_etcd(self, state: CacheState, n: int) -> bool:
        """Return True for a revision that etcd is known not to have reached."""
        newest = state.etcd_rv
        return newest is not None and self.ask(Predicate.AHEAD_OF_ETCD, n > newest, n, newest)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)
