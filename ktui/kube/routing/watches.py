"""decide_watch: where a WATCH is served from, and what it starts with, in every minor from 1.19 to 1.37."""

from __future__ import annotations

from ktui.kube.listoptions import ListOptions
from ktui.kube.routing import errors
from ktui.kube.routing.list_cache import retry_after
from ktui.kube.routing.list_case import NOT_OLDER_THAN
from ktui.kube.routing.model import CacheState, Decision, Readiness, Route, RouteError, WatchQuestion
from ktui.kube.routing.resource_version import parse_rv, shown
from ktui.kube.routing.walk import API_VALIDATION, CACHER_WATCH, ETCD, STORE_WATCH, WATCH_CACHE, Walk
from ktui.kube.validation import validate_watch
from ktui.kube.versions import Behaviour


class WatchCase:
    """Question, cache and version together; `initial` is sendInitialEvents after defaulting."""

    __slots__ = (
        "behaviour",
        "defaulted",
        "initial",
        "match",
        "n",
        "question",
        "rv",
        "state",
        "waited",
        "walk",
    )

    def __init__(self, question: WatchQuestion, state: CacheState, behaviour: Behaviour) -> None:
        self.question, self.state, self.behaviour = question, state, behaviour
        self.walk = Walk(API_VALIDATION)
        self.rv = question.resource_version
        self.n = parse_rv(self.rv)
        # Up to 1.26 the parameter did not exist: unknown ones are ignored.
        self.initial = question.send_initial_events if behaviour.minor >= 27 else None
        self.match = question.match
        self.defaulted = self.waited = False

    def decide(
        self, route: Route, *reasons: str, error: RouteError | None = None, wait: str = "none", op: str = ""
    ) -> Decision:
        return Decision(
            route,
            ("w.notready_wait", *reasons) if self.waited else reasons,
            self.walk.done(),
            wait=wait,
            etcd_ops=(op,) if op else (),
            error=error,
            initial_events_defaulted=self.defaulted,
        )

    def stream_error(self, route: Route, reasons: tuple[str, ...], error: RouteError) -> Decision:
        """The watch is accepted (200) and its only event is this ERROR."""
        wait = "up_to_3s" if reasons[-1] == "w.toolarge" and route is Route.CACHE else "none"
        return self.decide(route, *reasons, error=error, wait=wait)


def decide_watch(question: WatchQuestion, state: CacheState, behaviour: Behaviour) -> Decision:
    """The route of a WATCH and how it starts; pure, and before anything was read."""
    case = WatchCase(question, state, behaviour)
    _default(case)
    refused = _refused_by_api(case)
    if refused:
        return refused
    case.walk.enter(STORE_WATCH)
    disabled = state.readiness is Readiness.DISABLED
    if case.walk.ask("resource without watch cache?", state.readiness.value, disabled):
        return _from_etcd(case, ("w.nocache",))
    case.walk.enter(CACHER_WATCH)
    gate = behaviour.watch_from_storage_without_resource_version
    if gate and case.walk.ask(
        "resourceVersion unset?", shown(case.rv), case.rv == "" and case.initial is None
    ):
        return _from_etcd(case, ())
    if case.n is None:
        return _bad_rv(case)
    refused = _not_ready(case)
    return refused or _from_cache(case, case.n)


def _default(case: WatchCase) -> None:
    """WatchList: a watch from unset or 0 asks for the initial events by itself."""
    on = case.behaviour.watch_list
    asks_nothing = case.initial is None and case.match == "" and case.rv in ("", "0")
    if case.behaviour.minor < 27:
        return
    saw = f"gate {'on' if on else 'off'}, resourceVersion {shown(case.rv)}"
    if case.walk.ask("WatchList asks for initial events by itself?", saw, on and asks_nothing):
        case.defaulted, case.initial, case.match = True, True, NOT_OLDER_THAN


def _refused_by_api(case: WatchCase) -> Decision | None:
    illegal = _illegal(case)
    if not case.walk.ask("illegal combination of options?", illegal or "none", bool(illegal)):
        return None
    options = ListOptions(
        watch=True,
        resource_version=case.rv,
        resource_version_match=case.match,
        send_initial_events=case.initial,
        continue_="token" if case.question.has_token else "",
    )
    error = errors.invalid_options(validate_watch, options, case.behaviour)
    return case.decide(Route.NONE, "w.badmatch", error=error)


def _illegal(case: WatchCase) -> str:
    """What the API refuses (422), empty when all is well."""
    match = case.match
    if match and (case.behaviour.minor <= 26 or case.initial is None):
        return f"resourceVersionMatch={match} on a watch"
    if case.initial is None:
        return ""
    if match != NOT_OLDER_THAN:
        return f"sendInitialEvents with resourceVersionMatch {shown(match)}"
    if not case.behaviour.watch_list:
        return "sendInitialEvents while the gate WatchList is off"
    return "resourceVersionMatch with continue" if case.question.has_token else ""


def _bad_rv(case: WatchCase) -> Decision:
    case.walk.ask("resourceVersion unparsable?", case.rv, True)
    return case.decide(Route.NONE, "v.bad_rv", error=errors.bad_rv_in_cache(case.rv))


def _not_ready(case: WatchCase) -> Decision | None:
    state = case.state
    if not case.walk.ask("cache not ready?", state.readiness.value, state.readiness is not Readiness.READY):
        return None
    if not case.behaviour.resilient_watch_cache_initialization:
        case.waited = True
        return None
    error = errors.not_ready(retry_after(state, case.behaviour))
    return case.decide(Route.NONE, "w.notready_429", error=error)


def _from_cache(case: WatchCase, n: int) -> Decision:
    case.walk.enter(WATCH_CACHE)
    if case.walk.ask("sendInitialEvents?", _word(case.initial), case.initial is True):
        return _initial_events(case, n)
    if n == 0:
        if case.walk.ask("sendInitialEvents=false?", _word(case.initial), case.initial is False):
            # Unset means live events from the newest revision, so it is probed; 0 means from any.
            return case.decide(Route.CACHE, "w.now", op="revision_probe" if case.rv == "" else "")
        return case.decide(Route.CACHE, "w.initial_any")
    return _since(case, n)


def _initial_events(case: WatchCase, n: int) -> Decision:
    state, ask = case.state, case.walk.ask
    checks = case.behaviour.minor >= 31 and case.question.bookmarks
    progress = "supported" if state.progress else "unsupported"
    if checks and ask("etcd progress requests unsupported?", progress, not state.progress):
        error = errors.no_progress()
        return case.stream_error(Route.CACHE, ("w.noprogress",), error)
    end = ("w.bookmark_end",) if case.question.bookmarks else ()
    if ask("resourceVersion unset?", shown(case.rv), case.rv == ""):
        return case.decide(Route.CACHE, "w.initial_fresh", *end, wait="up_to_3s", op="revision_probe")
    if ask("resourceVersion 0 (any)?", shown(case.rv), n == 0):
        return case.decide(Route.CACHE, "w.initial_any", *end)
    if _beyond(case, n):
        error = errors.too_large(n, state.cache_rv, retry_after=1, in_stream=True)
        return case.stream_error(Route.CACHE, ("w.toolarge",), error)
    behind = ask("cache behind resourceVersion?", f"{n}, cache at {state.cache_rv}", n > state.cache_rv)
    return case.decide(Route.CACHE, "w.initial_atleast", *end, wait="up_to_3s" if behind else "none")


def _since(case: WatchCase, n: int) -> Decision:
    state, ask = case.state, case.walk.ask
    oldest = state.oldest_watch_rv
    if ask("older than the event buffer?", f"{n}, buffer starts after {oldest}", n < oldest):
        error = errors.too_old(n, oldest)
        return case.stream_error(Route.CACHE, ("w.tooold",), error)
    ahead = ask("ahead of the cache?", f"{n}, cache at {state.cache_rv}", n > state.cache_rv)
    return case.decide(Route.CACHE, "w.future" if ahead else "w.since")


def _from_etcd(case: WatchCase, before: tuple[str, ...]) -> Decision:
    case.walk.enter(ETCD)
    n, state, ask = case.n, case.state, case.walk.ask
    if n is None:
        return _bad_rv(case)
    if ask("sendInitialEvents?", _word(case.initial), case.initial is True):
        if n > 0 and _beyond(case, n):
            error = errors.too_large(n, state.etcd_rv or 0, in_stream=True)
            return case.stream_error(Route.ETCD, (*before, "w.toolarge"), error)
        end = ("w.bookmark_end",) if case.question.bookmarks else ()
        return case.decide(Route.ETCD, *before, "w.etcd_list", *end)
    if ask("resourceVersion unset or 0?", shown(case.rv), n == 0):
        return case.decide(Route.ETCD, *before, "w.now" if case.initial is False else "w.etcd_list")
    oldest = state.compact_rv
    if oldest is not None and ask("revision compacted?", f"{n}, compacted up to {oldest}", n < oldest):
        error = errors.watch_too_old()
        return case.stream_error(Route.ETCD, (*before, "w.etcd_compacted"), error)
    return case.decide(Route.ETCD, *before, "w.etcd_since")


def _beyond(case: WatchCase, n: int) -> bool:
    newest = case.state.etcd_rv
    return newest is not None and case.walk.ask(
        "ahead of etcd as well?", f"{n}, etcd at {newest}", n > newest
    )


def _word(value: bool | None) -> str:
    return "unset" if value is None else "true" if value else "false"
