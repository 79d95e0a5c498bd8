"""The current state as events: what a recording that begins now has to start with."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec.structs

from ktui.contract.events import AnyEvent, EtcdProgress, ProgressTick
from ktui.contract.events.live import LiveStatus
from ktui.core.state import State


def state_events(state: State, at: float) -> list[AnyEvent]:
    """Return events from which a reducer makes `state`, as of the time `at` (Unix seconds).

    Of the requests only those in flight: a recording holds the requests that end in it.
    Started requests and open watchers keep their time, so that their ages are right.
    """
    now = [msgspec.structs.replace(event, at=at) for event in _facts(state)]
    return [*now, *_live(state), *_under_way(state)]


def _facts(state: State) -> Iterator[AnyEvent]:
    if state.server is not None:
        yield state.server
    if state.health is not None:
        yield state.health
    if state.etcd_usage is not None:
        yield state.etcd_usage
    head = state.head
    if head.revision:
        yield EtcdProgress(
            head=head.revision,
            compact=head.compact,
            db_bytes=head.db_bytes,
            in_use_bytes=head.in_use_bytes,
            histories=head.histories,
        )
    for row in state.caches.values():
        yield row.cache
        if row.ticked:
            yield ProgressTick(resource=row.resource, rv=row.ticked)
    yield from state.prefixes.values()
    yield from state.deletions.values()
    yield from state.fan_outs.values()


def _under_way(state: State) -> Iterator[AnyEvent]:
    for request in state.requests.values():
        if not request.done:
            yield request.started
            if request.routed is not None:
                yield request.routed
    for watcher in state.watchers.values():
        yield watcher.opened
        if watcher.state is not None:
            yield watcher.state


def _live(state: State) -> Iterator[AnyEvent]:
    """Yield the last scrape of each replica with its own time: later scrapes are compared with it."""
    live = state.live
    if live.server is not None:
        yield live.server
    if live.status is not None:
        yield live.status
    for source, problem in live.problems.items():
        yield LiveStatus(at=live.now, source=source, problem=problem)
    for row in live.replicas.values():
        for series in row.resources.values():
            yield msgspec.structs.replace(series.last, counters=series.reads.raw)
        yield from (series.last for series in row.levels.values())
        yield row.scrape
        if row.dump is not None:
            yield row.dump
        if row.levels_dump is not None:
            yield row.levels_dump
        if row.down is not None:
            yield row.down
        yield from row.probes.values()
    if live.flow is not None:
        yield live.flow
    yield from live.asked.values()
