"""The reducer that folds telemetry events into the State, live or replayed: no clock, no I/O.

`state_events` is its inverse: what a recording that begins now has to start with.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec.structs
from msgspec.structs import replace

from ktui.contract import events as contract
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import LiveStatus
from ktui.core.live.live_state import LIVE_EVENTS, fold
from ktui.core.request_view import READS
from ktui.core.rows import badge_of, badge_of_route
from ktui.core.state import CALLS_A_REQUEST, FAN_OUTS, CacheRow, Head, RequestRow, Rewind, State, WatcherRow
from ktui.core.traffic import ANSWERED_READS, Rate


def shared(event: contract.RequestRouted) -> contract.RequestRouted:
    """Return `event` with shared steps and reason, which would be most of the log's memory."""
    return replace(event, reason=_reason(event.reason), steps=[_step(step) for step in event.steps])


# Steps with a revision differ each time; the repeating ones stay cached.
_step: Callable[[contract.RouteStep], contract.RouteStep] = lru_cache(2048)(lambda step: step)
_reason: Callable[[str], str] = lru_cache(256)(lambda text: text)


def apply(state: State, events: Iterable[AnyEvent]) -> None:
    for event in events:
        if event.at > state.now:
            state.now = event.at
        _HANDLERS[type(event)](state, event)


def _server(state: State, event: AnyEvent) -> None:
    """Take an event about the server as a whole."""
    match event:
        case contract.ServerInfo():
            state.server = event
        case contract.EtcdHealth():
            if state.health is not None and state.health.alarm and not event.alarm:
                state.no_space = ""
            state.health = event
        case contract.TaskFailures():
            state.task_failures = event.failures
        case contract.EtcdUsage():
            state.etcd_usage = event
        case contract.Dropped():
            state.dropped += event.count
    state.touched.server += 1


def _request_started(state: State, event: contract.RequestStarted) -> None:
    state.requests[event.id] = RequestRow(event)
    state.access_patterns.add(event)
    dropped = (state.reads if event.verb in READS else state.writes).add(event.id)
    if dropped is not None:
        state.requests.pop(dropped, None)  # unless two had one id
    state.touched.requests += 1


def _request_routed(state: State, event: contract.RequestRouted) -> None:
    if row := state.requests.get(event.id):
        state.requests[event.id] = replace(row, routed=shared(event))
        state.touched.requests += 1


def _request_finished(state: State, event: contract.RequestFinished) -> None:
    if row := state.requests.get(event.id):
        row = state.requests[event.id] = replace(row, finished=event)
        letter = badge_of(row).letter
        if row.started.verb in ANSWERED_READS:  # a WATCH ends when its client closes it
            state.history.add(letter, event)
        if row.started.verb in READS:
            state.ranking.add(row, event, letter)
        state.touched.requests += 1
    else:
        state.ranking.watch_ended(event)  # a WATCH outlives its row in the log


def _etcd_call(state: State, event: contract.EtcdCall) -> None:
    state.calls.append(event)
    state.touched.calls += 1
    if event.op == "txn":  # etcd's error NOSPACE ends with the first write that succeeds
        if not event.error:
            state.no_space = ""
        elif "out of space" in event.error or "space exceeded" in event.error:
            state.no_space = event.error.rstrip(".")
    row = state.requests.get(event.request_id) if event.request_id else None
    if row is not None and len(row.calls) < CALLS_A_REQUEST:
        state.requests[row.id] = replace(row, calls=(*row.calls, event))
        state.touched.requests += 1


def _progress(state: State, event: contract.EtcdProgress) -> None:
    if state.head.revision and event.histories > state.head.histories:
        # etcd has another history: it was restored or replaced. All revisions are forgotten.
        state.rewind = Rewind(event.at, state.head.revision, event.head)
        state.head, state.head_rate = Head(), Rate()
        for resource, row in state.caches.items():
            state.caches[resource] = replace(row, rv=row.cache.rv, ticked=0)
        state.touched.caches += 1
    # Revisions may arrive out of order; within one history the revision never decreases.
    head, revision = state.head, max(event.head, state.head.revision)
    state.head_rate.add(event.at, revision)
    sizes = event.db_bytes or head.db_bytes, event.in_use_bytes or head.in_use_bytes
    state.head = Head(revision, event.compact or head.compact, *sizes, event.histories)
    state.touched.head += 1


def _cache(state: State, event: contract.CacheStatus) -> None:
    state.event_rates.setdefault(event.resource, Rate()).add(event.at, event.events)
    before = state.caches.get(event.resource)
    ticked = before.ticked if before is not None else 0
    state.caches[event.resource] = CacheRow(
        cache=event, rv=max(event.rv, ticked) if event.state == "ready" else event.rv, ticked=ticked
    )
    (state.stale.add if state.caches[event.resource].stale else state.stale.discard)(event.resource)
    state.touched.caches += 1


def _progress_tick(state: State, event: contract.ProgressTick) -> None:
    if row := state.caches.get(event.resource):
        state.caches[event.resource] = replace(row, rv=max(row.rv, event.rv), ticked=event.rv)
        state.touched.caches += 1


def _prefix(state: State, event: contract.Prefix) -> None:
    state.prefixes[event.prefix] = event
    state.touched.prefixes += 1


def _watcher_opened(state: State, event: contract.WatcherOpened) -> None:
    state.watchers[event.id] = WatcherRow(event)
    state.watcher_rates[event.id] = Rate()
    state.touched.watchers += 1


def _watcher_state(state: State, event: contract.WatcherState) -> None:
    if row := state.watchers.get(event.id):
        row = state.watchers[event.id] = replace(row, state=event)
        letter = badge_of_route(row.opened.route).letter
        state.ranking.watch_reported(state.requests.get(event.id), row, letter)
        state.watcher_rates[event.id].add(event.at, event.delivered)
        state.touched.watchers += 1


def _watcher_closed(state: State, event: contract.WatcherClosed) -> None:
    row = state.watchers.pop(event.id, None)
    state.watcher_rates.pop(event.id, None)
    state.ranking.watch_closed(event.id)
    if row is not None:
        state.closed_watchers.append(replace(row, closed=event))
    state.touched.watchers += 1


def _fan_out(state: State, event: contract.FanOut) -> None:
    before = state.fan_outs.get(event.resource)
    if before is not None:
        state.earlier_fan_outs.setdefault(event.resource, deque(maxlen=FAN_OUTS)).append(before)
    state.fan_outs[event.resource] = event
    if event.change == "DELETED":
        state.deletions[event.resource] = event
    state.touched.watchers += 1


def _marker(state: State, event: contract.Marker) -> None:
    """Add a marker to the charts. A replay's scrub bar reads its markers from the recording."""
    state.history.mark(event.at)


def _live(state: State, event: Any) -> None:
    fold(state.live, event)


_OF_SERVER = (
    contract.ServerInfo, contract.EtcdHealth, contract.EtcdUsage, contract.TaskFailures, contract.Dropped,
)  # fmt: skip
_HANDLERS: dict[type[Any], Callable[[State, Any], None]] = {
    **dict.fromkeys(_OF_SERVER, _server),
    contract.RequestStarted: _request_started,
    contract.RequestRouted: _request_routed,
    contract.RequestFinished: _request_finished,
    contract.EtcdCall: _etcd_call,
    contract.EtcdProgress: _progress,
    contract.CacheStatus: _cache,
    contract.ProgressTick: _progress_tick,
    contract.Prefix: _prefix,
    contract.WatcherOpened: _watcher_opened,
    contract.WatcherState: _watcher_state,
    contract.WatcherClosed: _watcher_closed,
    contract.FanOut: _fan_out,
    contract.Marker: _marker,
    **dict.fromkeys(LIVE_EVENTS, _live),
}


def state_events(state: State, at: float) -> list[AnyEvent]:
    """Return events from which a reducer makes `state`, as of the time `at` (Unix seconds).

    Of the requests only those in flight: a recording holds the requests that end in it.
    Started requests and open watchers keep their time, so that their ages are right.
    """
    return [*(replace(event, at=at) for event in _facts(state)), *_own_time_events(state)]


def _facts(state: State) -> Iterator[AnyEvent]:
    yield from filter(None, (state.server, state.health, state.etcd_usage))
    if state.head.revision:
        head = msgspec.structs.asdict(state.head)
        yield contract.EtcdProgress(head=head.pop("revision"), **head)
    for row in state.caches.values():
        yield row.cache
        if row.ticked:
            yield contract.ProgressTick(resource=row.resource, rv=row.ticked)
    yield from state.prefixes.values()
    yield from state.deletions.values()
    yield from state.fan_outs.values()


def _own_time_events(state: State) -> Iterator[AnyEvent]:
    """Yield events that keep their time. Later scrapes are compared with the last one of each replica."""
    live = state.live
    yield from filter(None, (live.server, live.status))
    for source, problem in live.problems.items():
        if problem:
            yield LiveStatus(at=live.now, source=source, problem=problem)
    for row in live.replicas.values():
        for series in row.resources.values():
            yield replace(series.last, counters=series.reads.raw)
        yield from (series.last for series in row.levels.values())
        yield row.scrape
        yield from filter(None, (row.dump, row.levels_dump, row.down))
        yield from row.probes.values()
    if live.flow is not None:
        yield live.flow
    yield from live.asked.values()
    for request in state.requests.values():
        if not request.done:
            yield from filter(None, (request.started, request.routed))
    for watcher in state.watchers.values():
        yield from filter(None, (watcher.opened, watcher.state))
