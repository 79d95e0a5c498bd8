"""ListCase: the request, the cache's state and the version of one LIST, as input of the rules."""

from __future__ import annotations

from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import ListParameters, TokenState
from ktui.kube.routing.plan import EtcdOp, Plan, Source, Wait
from ktui.kube.routing.resource_version import parse_rv
from ktui.kube.routing.trace import API_VALIDATION, Trace
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour

NOT_OLDER_THAN = "NotOlderThan"
EXACT = "Exact"

Reasons = tuple[str, ...]


class ListCase:
    """Request, cache and version together; the attributes are what the predicates test."""

    __slots__ = (
        "behaviour",
        "cache_rv",
        "consistent",
        "has_token",
        "limited",
        "match",
        "n",
        "parameters",
        "progress",
        "ready",
        "recursive",
        "rv",
        "state",
        "token",
        "trace",
        "unset",
        "waited",
        "zero",
    )  # fmt: skip

    def __init__(self, parameters: ListParameters, state: CacheState, behaviour: Behaviour) -> None:
        self.parameters, self.state, self.behaviour = parameters, state, behaviour
        self.trace = Trace(API_VALIDATION)
        self.rv = parameters.resource_version
        self.unset, self.zero = self.rv == "", self.rv == "0"
        self.n = parse_rv(self.rv)
        self.match = parameters.match
        self.limited = parameters.limit > 0
        self.token = parameters.token
        self.has_token = parameters.token.state is not TokenState.NONE
        # A continue token names a position in a collection; a single key has no positions.
        self.recursive = parameters.recursive or self.has_token
        self.ready = state.readiness is Readiness.READY
        # A cache that was never filled has seen no revision.
        self.cache_rv = 0 if state.readiness is Readiness.INITIALIZING else state.cache_rv
        self.progress = state.progress
        # Set during the decision: the read from the cache is consistent; it waits until the cache is ready.
        self.consistent = self.waited = False

    @property
    def unfiltered(self) -> bool:
        """No label and no field selector at all (metadata.namespace counts as a selector)."""
        return not self.parameters.selectors and not self.parameters.narrowed and self.recursive

    @property
    def legacy_exact(self) -> bool:
        """limit and resourceVersion N without match: the legacy way to request Exact."""
        return self.limited and self.match == "" and not self.unset and not self.zero

    @property
    def limit(self) -> int:
        """The page size, 0 for none."""
        return max(self.parameters.limit, 0)

    @property
    def seen_token(self) -> tuple[str, int]:
        """The token's state and revision as predicates show them."""
        return self.token.state.value, self.token.rv

    def reject(
        self,
        source: Source,
        reasons: Reasons,
        error: StatusError,
        *,
        etcd_ops: tuple[EtcdOp, ...] = (),
        wait: Wait = Wait.NONE,
    ) -> Plan:
        """Return a plan that ends in an error, without limit and consistency."""
        return Plan(source, reasons, self.trace.steps, wait=wait, etcd_ops=etcd_ops, error=error)
