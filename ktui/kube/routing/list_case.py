"""A LIST as the rules look at it: the question, taken apart once."""

from __future__ import annotations

from ktui.kube.routing.model import (
    CacheState,
    Decision,
    ListQuestion,
    Readiness,
    Route,
    RouteError,
    TokenState,
)
from ktui.kube.routing.resource_version import parse_rv, shown
from ktui.kube.routing.walk import API_VALIDATION, Walk
from ktui.kube.versions import Behaviour

NOT_OLDER_THAN = "NotOlderThan"
EXACT = "Exact"

Reasons = tuple[str, ...]


class ListCase:
    """Question, cache and version together, with the names that predicates use."""

    __slots__ = (
        "behaviour", "cache_rv", "consistent", "has_token", "limited", "match", "n", "progress", "question",
        "ready", "recursive", "rv", "state", "unset", "waited", "walk", "zero",
    )  # fmt: skip

    def __init__(self, question: ListQuestion, state: CacheState, behaviour: Behaviour) -> None:
        self.question, self.state, self.behaviour = question, state, behaviour
        self.walk = Walk(API_VALIDATION)
        self.rv = question.resource_version
        self.unset, self.zero = self.rv == "", self.rv == "0"
        self.n = parse_rv(self.rv)
        self.match = question.match
        self.limited = question.limit > 0
        self.has_token = question.token is not TokenState.NONE
        # A continue token names a place in a collection: a single key has none.
        self.recursive = question.recursive or self.has_token
        self.ready = state.readiness is Readiness.READY
        # A cache that was never filled has seen no revision.
        self.cache_rv = 0 if state.readiness is Readiness.INITIALIZING else state.cache_rv
        self.progress = state.progress
        # What the walk finds out: a consistent read of the cache; a wait until the cache is ready.
        self.consistent = self.waited = False

    @property
    def unfiltered(self) -> bool:
        """No label and no field selector at all (a narrowing one counts as a selector)."""
        return not self.question.selectors and not self.question.narrowed and self.recursive

    @property
    def legacy_exact(self) -> bool:
        """limit and resourceVersion N without match: the old way to say Exact."""
        return self.limited and self.match == "" and not self.unset and not self.zero

    @property
    def shown_rv(self) -> str:
        return shown(self.rv)

    @property
    def shown_token(self) -> str:
        if not self.has_token:
            return "no token"
        if self.question.token is TokenState.GARBAGE:
            return "a token that cannot be decoded"
        return (
            "a token at latest (-1)" if self.question.token_rv < 0 else f"a token at {self.question.token_rv}"
        )

    def refuse(
        self,
        route: Route,
        reasons: Reasons,
        error: RouteError,
        *,
        etcd_ops: tuple[str, ...] = (),
        wait: str = "none",
    ) -> Decision:
        """A decision that ends in an error: nothing is listed, so nothing is said about a list."""
        return Decision(route, reasons, self.walk.done(), wait=wait, etcd_ops=etcd_ops, error=error)
