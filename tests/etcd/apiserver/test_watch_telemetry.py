"""Telemetry of WATCHes: which are open, the state of each, how an event is delivered."""

from __future__ import annotations

import pytest

from ktui.cacher import publishing as sampling
from ktui.contract.events import (
    FanOut,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)
from tests.etcd.apiserver.conftest import TABLE, Api
from tests.etcd.apiserver.test_watches import ready, watching
from tests.etcd.apiserver.told import Told

pytestmark = pytest.mark.anyio


async def test_one_encoding_serves_all_watchers_of_a_form(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    sampled, take = [], sampling.Sampler.take
    monkeypatch.setattr(sampling.Sampler, "take", lambda *sample: sampled.append(sample))
    rv = await ready(api)
    since = f"resourceVersion={rv}"
    async with (
        watching(api, since) as one,
        watching(api, since) as two,
        watching(api, since, **TABLE) as table,
        watching(api, f"{since}&labelSelector=in%3Dyes") as picky,
    ):
        await api.config_map("warms-up", **{"in": "yes"})
        for events in (one, two, table, picky):
            await events.next()
        told = Told(api.services.bus.subscribe())
        await told.live(4)
        await api.config_map("seen")
        for events in (one, two, table):
            await events.next()
        take(*sampled[0])  # only now: each of them has written
        fan_out = await told.next(FanOut)
    assert (fan_out.resource, fan_out.change, fan_out.name) == ("configmaps", "ADDED", "seen")
    assert (fan_out.watchers, fan_out.concerned, fan_out.delivered) == (4, 4, 3)
    assert (fan_out.tables, fan_out.plain_forms, fan_out.table_forms) == (1, 1, 1)
    assert fan_out.encodings == 2, "one JSON for two watchers, one Table"


async def test_a_watcher_is_reported_from_its_start_to_its_end(api: Api) -> None:
    rv = await ready(api)
    told = Told(api.services.bus.subscribe())
    async with watching(api, f"resourceVersion={rv}&labelSelector=in%3Dyes") as events:
        opened = await told.next(WatcherOpened)
        assert (opened.since, opened.namespace, opened.selector, opened.route) == (rv, "a", "in=yes", "cache")
        await api.config_map("one", **{"in": "yes"})
        await events.next()
        state = await told.next(WatcherState, lambda state: state.live and state.delivered > 0)
        assert (state.id, state.live, state.made, state.shared) == (opened.id, True, 1, 0)
        assert state.capacity > 0 and state.buffered == 0
        late = Told(api.services.bus.subscribe())
        assert (await late.next(RequestStarted)).id == (await late.next(RequestRouted)).id == opened.id
        assert (await late.next(WatcherOpened)).id == opened.id, "who comes later is told as well"
    closed = await told.next(WatcherClosed)
    assert (closed.id, closed.delivered, closed.made, closed.cause) == (opened.id, 1, 1, "client gone")


async def test_what_an_open_watch_has_cost_is_told_while_it_lasts(api: Api) -> None:
    await ready(api)
    await api.seen(await api.config_map("one"))
    told = Told(api.services.bus.subscribe())
    async with watching(api, "resourceVersion=0") as events:
        await events.next()
        state = await told.next(WatcherState, lambda state: state.live)
    assert (state.fetched, state.initial) == (1, 1)
    assert state.cached_bytes > 0 and state.bytes > 0 and state.cpu_ms > 0
    finished = await told.next(RequestFinished, lambda event: event.id == state.id)
    assert (finished.fetched, finished.cached_bytes) == (state.fetched, state.cached_bytes)
    assert finished.encoded_bytes == finished.sent_bytes == state.bytes


async def test_the_seats_of_a_watch_without_initial_events_are_free_once_it_has_begun(api: Api) -> None:
    rv = await ready(api)
    told = Told(api.services.bus.subscribe())
    async with watching(api, f"resourceVersion={rv}") as events:
        opened = await told.next(WatcherOpened)
        await told.live(1)
        await api.config_map("later")
        await events.next()
    finished = await told.next(RequestFinished, lambda event: event.id == opened.id)
    assert (finished.initial, finished.returned) == (0, 1)
    assert 0 < finished.initial_ms < finished.ms
