"""The past as the cache tells it is the past as it was."""

from __future__ import annotations

import asyncio

from cacher_model import obj
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher.event_buffer import EventBuffer
from ktui.cacher.watch_cache import WatchCache
from ktui.storage.objects import StoredObject

END = "\U0010ffff"
KEYS = [f"{ns}/{name}" for ns in "ab" for name in "wxyz"]
Step = tuple[str, str]  # key, label value; "" deletes


def small_cache(capacity: int) -> WatchCache:
    cache = WatchCache()
    buffer = EventBuffer(capacity, capacity)
    cache.event_buffer = cache.snapshots._buffer = buffer
    return cache


def play(cache: WatchCache, steps: list[Step]) -> dict[int, dict[str, int]]:
    """Apply the steps; what was there (rv by key) at each revision."""
    state = dict.fromkeys(KEYS[::2], 1)
    cache.replace([obj(key, 1) for key in sorted(state)], rv=10)
    history = {10: dict(state)}
    rv = 10
    for key, value in steps:
        rv += 2
        if value:
            state[key] = rv
            cache.apply("MODIFIED", obj(key, rv, v=value), rv)
        elif key in state:
            del state[key]
            cache.apply("DELETED", obj(key, rv), rv)
        else:
            continue
        history[rv] = dict(state)
    return history


def present_at(cache: WatchCache, rv: int) -> list[StoredObject]:
    found = cache.snapshots.slice(rv, "", END)
    assert found is not None
    return found.objects


steps = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(["", "1", "2"])), max_size=40)


@given(steps, st.integers(1, 50))
def test_every_retained_snapshot_equals_the_model(steps, capacity):
    cache = small_cache(capacity)
    history = play(cache, steps)
    oldest = cache.snapshots.oldest
    assert oldest is not None
    for rv, state in history.items():
        found = cache.snapshots.slice(rv, "", END)
        if rv < oldest:
            assert found is None
        else:
            assert found is not None
            assert {one.key: one.rv for one in found.objects} == state
            assert [one.key for one in found.objects] == sorted(state)
            assert found.total == len(state)


@given(steps, st.integers(0, 9), st.sampled_from(["", "a/", "a/x", "b/", "b/y"]))
def test_the_first_objects_of_a_snapshot_are_those_of_all(steps, most, start):
    cache = small_cache(1000)
    for rv in play(cache, steps):
        every, first = cache.snapshots.slice(rv, start, END), cache.snapshots.slice(rv, start, END, most)
        assert every is not None
        assert first is not None
        assert first == (every.objects[:most], every.total)


@given(steps, steps, st.sampled_from(["a/", "b/"]))
def test_an_overlay_made_early_follows_later_events(first, second, prefix):
    cache = small_cache(1000)
    history = play(cache, first)
    before = {rv: cache.snapshots.slice(rv, prefix, prefix[0] + "0") for rv in history}
    rv = cache.rv
    for key, value in second:
        rv += 2
        present = cache.store.get(key) is not None
        if value:
            cache.apply("MODIFIED" if present else "ADDED", obj(key, rv), rv)
        elif present:
            cache.apply("DELETED", obj(key, rv), rv)
    assert {rv: cache.snapshots.slice(rv, prefix, prefix[0] + "0") for rv in history} == before


def test_many_events_are_followed_before_the_page_and_a_page_costs_what_is_in_it(monkeypatch):
    keys = [f"a/{number:05}" for number in range(5000)]
    cache = small_cache(10_000)
    cache.replace([obj(key, 1) for key in keys], rv=10)
    for rv, key in enumerate(keys[::2], 11):
        cache.apply("DELETED" if rv % 2 else "MODIFIED", obj(key, rv), rv)
    for rv, key in enumerate(keys[:2000], cache.rv + 1):
        cache.apply("ADDED", obj(f"{key}-new", rv), rv)
    asyncio.run(cache.snapshots.prepare(11))
    followed = []
    since = cache.event_buffer.since
    monkeypatch.setattr(
        cache.event_buffer, "since", lambda *args: followed.append(since(*args)) or followed[-1]
    )
    page = cache.snapshots.slice(11, keys[100], END, 50)
    assert [one.key for one in page.objects] == keys[100:150]
    assert page.total == len(keys) - 100
    assert [len(events) <= 1000 for events in followed] == [True]


def test_a_lookup_takes_the_greatest_snapshot_not_newer():
    cache = small_cache(10)
    cache.replace([], rv=10)
    cache.apply("ADDED", obj("a/x", 20), 20)
    cache.apply("ADDED", obj("a/y", 30), 30)
    assert [one.key for one in present_at(cache, 25)] == ["a/x"]
    assert cache.snapshots.slice(9, "", END) is None


def test_the_first_snapshot_goes_when_the_buffer_is_full_not_only_when_it_evicts():
    cache = small_cache(3)
    cache.replace([], rv=10)
    for rv in (11, 12):
        cache.apply("ADDED", obj(f"a/{rv}", rv), rv)
    assert (cache.snapshots.oldest, len(cache.snapshots)) == (10, 3)
    cache.apply("ADDED", obj("a/13", 13), 13)
    assert (cache.snapshots.oldest, len(cache.snapshots)) == (11, 3)


def test_a_compaction_leaves_a_quiet_resource_without_snapshots_until_its_next_event():
    cache = small_cache(100)
    cache.replace([obj("a/x", 3)], rv=10)
    cache.apply("MODIFIED", obj("a/x", 20), 20)
    cache.compacted(40)
    assert cache.snapshots.oldest is None
    assert not cache.snapshots.has(50)
    assert cache.snapshots.slice(50, "", END) is None
    cache.apply("MODIFIED", obj("a/x", 60), 60)
    assert cache.snapshots.oldest == 60
    assert [one.rv for one in present_at(cache, 61)] == [60]
    # A WATCH may still start where the buffer reaches back to.
    assert cache.event_buffer.oldest_watch_rv == 10


def test_compacting_between_two_snapshots_keeps_the_newer_one():
    cache = small_cache(100)
    cache.replace([], rv=10)
    for rv in (20, 30):
        cache.apply("ADDED", obj(f"a/{rv}", rv), rv)
    cache.compacted(21)
    assert cache.snapshots.oldest == 30
