"""ListCase: the request, the cache's state and the version of one LIST, as input of the rules."""

from __future__ import annotations

import math
from collections.abc import Callable

from ktui.kube import status
from ktui.kube.listoptions import EXACT, NOT_OLDER_THAN, ListOptions, validate_list
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import DecodedToken, RequestScope, TokenState, parse_rv
from ktui.kube.routing.plan import NO_WAIT, EtcdOp, Plan, Source, Trace, TracePhase, Wait
from ktui.kube.routing.predicates import Predicate
from ktui.kube.status import StatusError, continue_with_resource_version
from ktui.kube.versions import Behaviour

# Without the decoder's own message, for a plan made without the token's text.
BAD_CONTINUE = "invalid continue token: continue key is not valid"

Reasons = tuple[str, ...]


class ListCase:
    """Request, cache and version together; the attributes are what the predicates test."""

    __slots__ = (
        "behaviour", "cache_rv", "consistent", "has_token", "limited", "match", "n", "options", "progress",
        "ready", "recursive", "rv", "scope", "state", "token", "trace", "unset", "waited", "zero",
    )  # fmt: skip

    def __init__(
        self,
        options: ListOptions,
        scope: RequestScope,
        token: DecodedToken,
        state: CacheState,
        behaviour: Behaviour,
    ) -> None:
        self.options, self.scope, self.token = options, scope, token
        self.state, self.behaviour = state, behaviour
        self.trace = Trace(TracePhase.API_VALIDATION)
        self.rv = options.resource_version
        self.unset, self.zero = self.rv == "", self.rv == "0"
        self.n = parse_rv(self.rv)
        self.match = options.resource_version_match
        self.limited = options.limit > 0
        self.has_token = token.state is not TokenState.NONE
        # A continue token names a position in a collection; a single key has no positions.
        self.recursive = not scope.single or self.has_token
        self.ready = state.readiness is Readiness.READY
        # A cache that was never filled has seen no revision.
        self.cache_rv = 0 if state.readiness is Readiness.INITIALIZING else state.cache_rv
        self.progress = state.progress
        # Set during the decision: the read from the cache is consistent; it waits until the cache is ready.
        self.consistent = self.waited = False

    @property
    def unfiltered(self) -> bool:
        """No label and no field selector at all (metadata.namespace counts as a selector)."""
        return not self.scope.selective and not self.scope.narrowed and self.recursive

    @property
    def legacy_exact(self) -> bool:
        """limit and resourceVersion N without match: the legacy way to request Exact."""
        return self.limited and self.match == "" and not self.unset and not self.zero

    @property
    def limit(self) -> int:
        """The page size, 0 for none."""
        return max(self.options.limit, 0)

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
        unstreamed: EtcdOp | None = None,
        wait: Wait = NO_WAIT,
    ) -> Plan:
        """Return a plan that ends in an error, without limit and consistency."""
        return Plan(source, reasons, self.trace.steps, etcd_ops, unstreamed, wait=wait, error=error)


def rejected_by_api(case: ListCase) -> Plan | None:
    """The API's own validation (422), the same in every minor.

    The message has every cause; the reason is the first of them.
    """
    reason = _broken_match_rule(case) if case.match else ""
    streaming = case.options.send_initial_events is not None and case.behaviour.minor >= 27
    if streaming and case.trace.ask(Predicate.LIST_SENDS_INITIAL, True):
        reason = reason or "v.send_initial"
    if not reason:
        case.trace.ask(Predicate.ILLEGAL_OPTIONS, False, "")
        return None
    error = invalid_options(validate_list, case.options, case.behaviour)
    return case.reject(Source.NONE, (reason,), error)


def _broken_match_rule(case: ListCase) -> str:
    match, ask = case.match, case.trace.ask
    if ask(Predicate.MATCH_WITHOUT_RV, case.unset, match, case.rv):
        return "v.match_needs_rv"
    if ask(Predicate.MATCH_WITH_CONTINUE, case.has_token, *case.seen_token):
        return "v.match_with_cont"
    if ask(Predicate.MATCH_UNKNOWN, match not in (EXACT, NOT_OLDER_THAN), match):
        return "v.match_unknown"
    if ask(Predicate.EXACT_AT_ZERO, match == EXACT and case.zero, match, case.rv):
        return "v.exact_zero"
    return ""


def rejected_by_storage(case: ListCase, reasons: Reasons = ()) -> Plan | None:
    """Validate continue token and resourceVersion as the storage layer does (400).

    The etcd store always validates them; since 1.33 the cacher does so before it routes.
    """
    ask = case.trace.ask
    if case.has_token:
        garbage = case.token.state is TokenState.GARBAGE
        if ask(Predicate.TOKEN_UNDECODABLE, garbage, *case.seen_token):
            error = case.token.error or status.bad_request(BAD_CONTINUE)
            return case.reject(Source.NONE, (*reasons, "v.bad_continue"), error)
        if ask(Predicate.RV_WITH_CONTINUE, not case.unset and not case.zero, case.rv):
            error = continue_with_resource_version()
            return case.reject(Source.NONE, (*reasons, "v.rv_with_cont"), error)
    if case.n is None:
        ask(Predicate.RV_UNPARSABLE, True, case.rv)
        return case.reject(Source.NONE, (*reasons, "v.bad_rv"), status.invalid_resource_version(case.rv))
    return None


def invalid_options(
    validate: Callable[[ListOptions, Behaviour], None], options: ListOptions, behaviour: Behaviour
) -> StatusError:
    """Return the 422 for options that `validate` rejects, with every cause in its message."""
    try:
        validate(options, behaviour)
    except StatusError as error:
        return error
    raise AssertionError(f"routing rejects {options}, validation does not")


def not_ready_error(state: CacheState, behaviour: Behaviour) -> StatusError:
    """Return the 429 of a cache that is not ready.

    Since 1.33 the delay grows with the downtime, and the message includes the last error.
    """
    if behaviour.minor <= 32:
        return status.storage_initializing()
    # The cap of 30 s is reached after 57 s; much larger exponents would overflow.
    delay = min(max(int(math.exp(0.06 * min(state.downtime_seconds, 60.0))), 1), 30)
    return status.storage_initializing(state.last_error, delay)
