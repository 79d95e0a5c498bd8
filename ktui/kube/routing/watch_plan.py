"""decide_watch: where a WATCH is served from, and how it starts, in every known minor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ktui.kube import status
from ktui.kube.listoptions import EXACT, NOT_OLDER_THAN, ListOptions, validate_list, validate_watch
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.list_case import invalid_options, not_ready_error
from ktui.kube.routing.parameters import MAX_REVISION, parse_rv
from ktui.kube.routing.plan import PROBED, EtcdOp, Plan, Source, Trace, TracePhase, Wait
from ktui.kube.routing.predicates import Predicate
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


class WatchCase:
    """Request, cache and version together; `initial` is sendInitialEvents after defaulting.

    `by_path`: the path says that it is a WATCH (`/api/v1/watch/pods`), not `watch=true`. Upstream checks the
    options of such a request as those of a LIST, and sets no defaults of a WATCH.
    """

    __slots__ = (
        "behaviour", "by_path", "defaulted", "initial", "match", "n", "options", "rv", "state", "trace",
        "waited",
    )  # fmt: skip

    def __init__(self, options: ListOptions, state: CacheState, behaviour: Behaviour) -> None:
        self.options, self.state, self.behaviour = options, state, behaviour
        self.by_path = not options.watch
        self.trace = Trace(TracePhase.API_VALIDATION)
        self.rv = options.resource_version
        self.n = parse_rv(self.rv)
        # The parameter came with 1.27; earlier versions ignore it as unknown.
        self.initial = options.send_initial_events if behaviour.minor >= 27 else None
        self.match = options.resource_version_match
        self.defaulted = self.waited = False

    def starts(
        self, source: Source, *reasons: str, after: int = 0, fresh: bool = False, probe: bool = False
    ) -> Plan:
        """Return a plan with only the events after a revision (0: from now on)."""
        return self._plan(source, reasons, fresh, etcd_ops=_PROBES[probe], revision=after)

    def lists_first(
        self, source: Source, *reasons: str, minimum: int = 0, fresh: bool = False, probe: bool = False
    ) -> Plan:
        """Return a plan with the current objects, at least as new as `minimum`, then events.

        With sendInitialEvents a bookmark is sent between them.
        """
        ends = self.initial is True and self.options.allow_watch_bookmarks
        reasons = (*reasons, "w.bookmark_end") if ends else reasons
        first = {"minimum": minimum, "initial_events": True, "end_bookmark": ends}
        return self._plan(source, reasons, fresh, etcd_ops=_PROBES[probe], **first)

    def rejects(self, reason: str, error: StatusError) -> Plan:
        """Return a plan that answers the request with an error."""
        return self._plan(Source.NONE, (reason,), error=error)

    def breaks(self, source: Source, *reasons: str, error: StatusError, fresh: bool = False) -> Plan:
        """Return a plan that accepts the watch (200) and sends this ERROR as its only event."""
        return self._plan(source, reasons, fresh, error=error, in_stream=True)

    def _plan(self, source: Source, reasons: tuple[str, ...], fresh: bool = False, **fields: Any) -> Plan:
        return Plan(
            source,
            ("w.notready_wait", *reasons) if self.waited else reasons,
            self.trace.steps,
            wait=Wait(ready=self.waited, fresh=fresh),
            initial_events_defaulted=self.defaulted,
            **fields,
        )


_PROBES = {True: (EtcdOp.PROBE,), False: ()}


def decide_watch(options: ListOptions, state: CacheState, behaviour: Behaviour) -> Plan:
    """Return the plan of a WATCH. A pure function."""
    case = WatchCase(options, state, behaviour)
    _default(case)
    rejected = _rejected_by_api(case)
    if rejected:
        return rejected
    case.trace.enter(TracePhase.STORE_WATCH)
    readiness = state.readiness
    if case.trace.ask(Predicate.NO_CACHE, readiness is Readiness.DISABLED, readiness.value):
        return _from_etcd(case, ("w.nocache",))
    case.trace.enter(TracePhase.CACHER_WATCH)
    if behaviour.enabled("WatchFromStorageWithoutResourceVersion") and case.trace.ask(
        Predicate.RV_UNSET, case.rv == "" and case.initial is None, case.rv
    ):
        return _from_etcd(case, ())
    if case.n is None:
        return _bad_rv(case)
    rejected = _not_ready(case)
    return rejected or _from_cache(case, case.n)


def _default(case: WatchCase) -> None:
    """Apply the gate WatchList: a WATCH from unset or 0 gets initial events by default."""
    on = case.behaviour.enabled("WatchList")
    asks_nothing = case.initial is None and case.match == "" and case.rv in ("", "0")
    asks_nothing = asks_nothing and not case.by_path
    if case.behaviour.minor < 27:
        return
    if case.trace.ask(Predicate.WATCH_LIST_DEFAULTS, on and asks_nothing, on, case.rv):
        case.defaulted, case.initial, case.match = True, True, NOT_OLDER_THAN


def _rejected_by_api(case: WatchCase) -> Plan | None:
    illegal = _illegal_for_list(case) if case.by_path else _illegal(case)
    if not case.trace.ask(Predicate.ILLEGAL_OPTIONS, bool(illegal), illegal):
        return None
    options = replace(case.options, resource_version_match=case.match, send_initial_events=case.initial)
    validate = validate_list if case.by_path else validate_watch
    return case.rejects("w.badmatch", invalid_options(validate, options, case.behaviour))


def _illegal_for_list(case: WatchCase) -> str:
    """Return why the API rejects the options as those of a LIST (422), "" if they are valid."""
    match = case.match
    if case.initial is not None:
        return "sendInitialEvents on a list"
    if not match:
        return ""
    if case.options.continue_:
        return "resourceVersionMatch with continue"
    if match not in (EXACT, NOT_OLDER_THAN):
        return f"resourceVersionMatch={match}"
    if case.rv == "" or (match == EXACT and case.rv == "0"):
        return f"resourceVersionMatch={match} with resourceVersion {case.rv or 'unset'}"
    return ""


def _illegal(case: WatchCase) -> str:
    """Return why the API rejects the options (422), "" if they are valid."""
    match = case.match
    if match and (case.behaviour.minor <= 26 or case.initial is None):
        return f"resourceVersionMatch={match} on a watch"
    if case.initial is None:
        return ""
    if match != NOT_OLDER_THAN:
        return f"sendInitialEvents with resourceVersionMatch {match or 'unset'}"
    if not case.behaviour.enabled("WatchList"):
        return "sendInitialEvents while the gate WatchList is off"
    return "resourceVersionMatch with continue" if case.options.continue_ else ""


def _bad_rv(case: WatchCase) -> Plan:
    case.trace.ask(Predicate.RV_UNPARSABLE, True, case.rv)
    return case.rejects("v.bad_rv", status.invalid_resource_version_in_cache(case.rv))


def _not_ready(case: WatchCase) -> Plan | None:
    readiness = case.state.readiness
    if not case.trace.ask(Predicate.NOT_READY, readiness is not Readiness.READY, readiness.value):
        return None
    if not case.behaviour.enabled("ResilientWatchCacheInitialization"):
        case.waited = True
        return None
    return case.rejects("w.notready_429", not_ready_error(case.state, case.behaviour))


def _from_cache(case: WatchCase, n: int) -> Plan:
    case.trace.enter(TracePhase.WATCH_CACHE)
    if case.trace.ask(Predicate.SENDS_INITIAL, case.initial is True, case.initial):
        return _initial_events(case, n)
    if n > 0:
        return _since(case, n)
    if case.trace.ask(Predicate.SENDS_NO_INITIAL, case.initial is False, case.initial):
        # Unset means live events from the newest revision, which is probed; 0 means from any revision.
        probe = case.rv == ""
        return case.starts(Source.CACHE, "w.now", after=PROBED if probe else 0, probe=probe)
    return case.lists_first(Source.CACHE, "w.initial_any")


def _initial_events(case: WatchCase, n: int) -> Plan:
    state, ask = case.state, case.trace.ask
    checks = case.behaviour.minor >= 31 and case.options.allow_watch_bookmarks
    if checks and ask(Predicate.PROGRESS_UNSUPPORTED, not state.progress, state.progress):
        return case.breaks(Source.CACHE, "w.noprogress", error=status.watch_progress_unsupported())
    if ask(Predicate.RV_UNSET, case.rv == "", case.rv):
        return case.lists_first(Source.CACHE, "w.initial_fresh", fresh=True, probe=True)
    if ask(Predicate.RV_ZERO, n == 0, case.rv):
        return case.lists_first(Source.CACHE, "w.initial_any")
    if case.trace.ahead_of_etcd(case.state, n):
        error = status.too_large_rv(n, state.cache_rv)
        return case.breaks(Source.CACHE, "w.toolarge", error=error, fresh=True)
    behind = ask(Predicate.CACHE_BEHIND, n > state.cache_rv, n, state.cache_rv)
    return case.lists_first(Source.CACHE, "w.initial_atleast", minimum=n, fresh=behind)


def _since(case: WatchCase, n: int) -> Plan:
    state, ask = case.state, case.trace.ask
    oldest = state.oldest_watch_rv
    if ask(Predicate.BEFORE_EVENTS, n < oldest, n, oldest):
        error = status.too_old_resource_version(n, oldest)
        return case.breaks(Source.CACHE, "w.tooold", error=error)
    ahead = ask(Predicate.AHEAD_OF_CACHE, n > state.cache_rv, n, state.cache_rv)
    return case.starts(Source.CACHE, "w.future" if ahead else "w.since", after=n)


def _from_etcd(case: WatchCase, before: tuple[str, ...]) -> Plan:
    case.trace.enter(TracePhase.ETCD)
    n, state, ask = case.n, case.state, case.trace.ask
    if n is None:
        return _bad_rv(case)
    if ask(Predicate.SENDS_INITIAL, case.initial is True, case.initial):
        if n > 0 and case.trace.ahead_of_etcd(case.state, n):
            error = status.too_large_rv(n, state.etcd_rv or 0, 0)
            return case.breaks(Source.ETCD, *before, "w.toolarge", error=error)
        return case.lists_first(Source.ETCD, *before, "w.etcd_list", minimum=n)
    if ask(Predicate.RV_UNSET_OR_ZERO, n == 0, case.rv):
        if case.initial is False:
            return case.starts(Source.ETCD, *before, "w.now")
        return case.lists_first(Source.ETCD, *before, "w.etcd_list")
    oldest = state.compact_rv
    if oldest is not None and ask(Predicate.COMPACTED, n < oldest, n, oldest):
        return case.breaks(Source.ETCD, *before, "w.etcd_compacted", error=status.watch_too_old())
    return case.starts(Source.ETCD, *before, "w.etcd_since", after=n if n <= MAX_REVISION else 0)
