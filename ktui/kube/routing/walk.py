"""The walk: each predicate that was asked, in order, with the value it saw."""

from __future__ import annotations

from ktui.kube.routing.model import Step

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


class Walk:
    """Collects steps; `ask` hands back the predicate's value, so that rules read as ifs."""

    __slots__ = ("phase", "steps")

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.steps: list[Step] = []

    def enter(self, phase: str) -> None:
        """The next questions are asked by this function of kube-apiserver."""
        self.phase = phase

    def ask(self, rule: str, saw: str, holds: bool) -> bool:
        self.steps.append(Step(rule, saw, holds, self.phase))
        return holds

    def done(self) -> tuple[Step, ...]:
        return tuple(self.steps)
