"""What a watcher gets to see, and what becomes of a slow one."""

from __future__ import annotations

import asyncio

import pytest
from cacher_model import event, obj, on_node, selection

from ktui.cacher.bookmarks import BookmarkClock, bookmark, next_time
from ktui.cacher.dispatcher import Dispatcher, TimeBudget
from ktui.cacher.watchers import WOKEN_AT_ONCE, Watcher, channel_size
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN
from ktui.kube.versions import behaviour_of
from ktui.supervision import Supervisor
from tests.unit import virtual_time

CONFIG_MAPS = BUILTIN.find("", "v1", "configmaps")
RED, BLUE = {"colour": "red"}, {"colour": "blue"}


def watcher(since: int = 0, size: int = 10, **wanted: str) -> Watcher:
    return Watcher(selection(**wanted), since, size)


@pytest.mark.parametrize(
    ("kind", "now", "before", "expected"),
    [
        ("ADDED", RED, None, ("ADDED", 7, RED)),
        ("ADDED", BLUE, None, None),
        ("MODIFIED", RED, RED, ("MODIFIED", 7, RED)),
        ("MODIFIED", RED, BLUE, ("ADDED", 7, RED)),
        # It leaves the selector: its previous content, at the resourceVersion of the update.
        ("MODIFIED", BLUE, RED, ("DELETED", 7, RED)),
        ("MODIFIED", BLUE, BLUE, None),
        ("DELETED", RED, RED, ("DELETED", 7, RED)),
        ("DELETED", BLUE, BLUE, None),
    ],
)
def test_conversion_for_a_watcher_of_red(kind, now, before, expected):
    previous = None if before is None else obj("a/x", 3, **before)
    out = watcher(colour="red").convert(event(kind, obj("a/x", 7, **now), previous))
    seen = None if out is None or out.object is None else (out.type, out.object.rv, out.object.labels)
    assert seen == expected
    assert out is None or out.rv == 7


def test_all_watchers_share_one_encoding():
    change = event("MODIFIED", obj("a/x", 7, **RED), obj("a/x", 3, **RED))
    first, second = watcher().convert(change), watcher(colour="red").convert(change)
    assert first is not None and first is second
    assert first.line() is first.line()
    assert first.line() == b'{"type":"MODIFIED","object":{"name":"a/x","rv":7}}\n'
    made = []
    for _ in range(2):
        first.encoding("table", lambda out: made.append(out) or b"row")
    assert len(made) == 1


def test_events_that_the_client_has_are_not_sent_again():
    async def run():
        one = watcher(since=7)
        assert one.offer([event("MODIFIED", obj("a/x", 7), obj("a/x", 3))])
        assert one.offer([event("MODIFIED", obj("a/x", 8), obj("a/x", 7))])
        one.end("done")
        return [[out.rv for out in batch] async for batch in one.batches()]

    assert asyncio.run(run()) == [[8]]


def dispatched(watchers: list[Watcher], events: list, trigger: str = "") -> Dispatcher:
    async def run():
        dispatcher = Dispatcher(trigger, TimeBudget())
        for one in watchers:
            dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())
        for one in events:
            dispatcher.submit([one])
        while dispatcher.rv != events[-1].rv:
            await asyncio.sleep(0.001)
        task.cancel()
        return dispatcher

    return virtual_time.run(run())


def test_only_the_concerned_are_considered():
    everything = watcher()
    namespace = Watcher(selection(namespace="a"), 0, 10)
    other = Watcher(selection(namespace="b"), 0, 10)
    single = Watcher(selection(namespace="a", name="x"), 0, 10)
    dispatcher = dispatched([everything, namespace, other, single], [event("ADDED", obj("a/x", 5))])
    assert [one.buffered for one in (everything, namespace, other, single)] == [1, 1, 0, 1]
    assert set(dispatcher.watchers.concerned([event("ADDED", obj("a/y", 6))])) == {everything, namespace}


def test_a_pod_that_moves_is_seen_by_both_nodes_watchers():
    one, two, three = (Watcher(selection(node=node), 0, 10) for node in ("n1", "n2", "n3"))
    change = event("MODIFIED", on_node("a/x", "n2", 5), on_node("a/x", "n1", 3))
    dispatcher = dispatched([one, two, three], [change], trigger="spec.nodeName")
    assert set(dispatcher.watchers.concerned([change])) == {one, two}
    assert [each.buffered for each in (one, two, three)] == [1, 1, 0]


def test_a_removed_watcher_leaves_nothing_behind():
    dispatcher = Dispatcher("spec.nodeName")
    for one in (watcher(), Watcher(selection(node="n1"), 0, 1)):
        dispatcher.watchers.add(one)
        dispatcher.watchers.remove(one)
        dispatcher.watchers.remove(one)
    assert len(dispatcher.watchers) == 0
    assert not dispatcher.watchers._groups


def test_a_slow_watcher_is_cut_off_and_delays_no_other():
    slow, fast = watcher(size=2), watcher(size=10)
    events = [event("ADDED", obj(f"a/{rv}", rv)) for rv in range(1, 6)]
    dispatcher = dispatched([slow, fast], events)
    assert (dispatcher.terminated, slow.cause, fast.cause) == (1, "too slow", "")
    assert (slow.buffered, fast.buffered) == (2, 5)
    assert list(dispatcher.watchers) == [fast]


def test_a_watcher_that_reads_in_time_gets_everything_through_a_small_queue():
    async def run():
        one = watcher(size=2)
        dispatcher = Dispatcher()
        dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())

        async def produce() -> None:
            for rv in range(1, 501):
                await dispatcher.room()
                dispatcher.submit([event("ADDED", obj(f"a/{rv}", rv))])

        producer = asyncio.create_task(produce())
        seen: list[int] = []
        async for batch in one.batches():
            seen += [out.rv for out in batch]
            if seen[-1] == 500:
                one.end("done")
        await producer
        task.cancel()
        return seen, dispatcher.terminated

    assert asyncio.run(run()) == (list(range(1, 501)), 0)


def test_the_time_budget_refills_by_whole_seconds_up_to_its_maximum():
    now = [0.0]
    budget = TimeBudget(lambda: now[0])
    assert budget.take() == pytest.approx(0.1)
    assert budget.take() == 0
    now[0] = 1.5
    assert budget.take() == pytest.approx(0.05)
    budget.give_back(0.02)
    now[0] = 60.0
    assert budget.take() == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("version", "capacity", "triggers", "triggered", "size"),
    [
        ("1.24", 100_000, False, False, 10),
        ("1.24", 100, True, False, 1000),
        ("1.24", 100, True, True, 10),
        ("1.25", 100, False, False, 10),
        ("1.36", 3200, False, False, 43),
        ("1.36", 102_400, False, False, 100),
        ("1.36", 102_400, True, False, 1000),
        ("1.36", 102_400, True, True, 10),
    ],
)
def test_channel_sizes(version, capacity, triggers, triggered, size):
    assert channel_size(behaviour_of(version), capacity, triggers=triggers, triggered=triggered) == size


@pytest.mark.parametrize(("deadline", "due"), [(None, 160), (130, 128), (500, 160), (101, 160)])
def test_bookmarks_come_once_a_minute_and_just_before_the_deadline(deadline, due):
    assert next_time(100.0, deadline) == due


def test_a_due_bookmark_carries_the_dispatched_resource_version():
    async def run():
        clock, one = BookmarkClock(Supervisor(), lambda: 42), watcher(since=40)
        clock.add(one, None, lambda rv: bookmark(rv, CONFIG_MAPS))
        now = asyncio.get_running_loop().time()
        clock.send_due(now)
        clock.send_due(now + 61)
        one.end("done")
        await clock.close()
        return [out.line() async for batch in one.batches() for out in batch]

    assert asyncio.run(run()) == [
        b'{"type":"BOOKMARK","object":'
        b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"42"}}}\n'
    ]


def test_the_bookmark_that_ends_initial_events_has_the_fields_that_go_always_writes():
    pods = BUILTIN.find("", "v1", "pods")
    assert bookmark(7, pods, ends_initial_events=True).document == (
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7",'
        b'"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}'
    )


def test_a_custom_resource_has_no_such_fields():
    crd = {
        "spec": {
            "group": "example.io",
            "names": {"plural": "widgets", "kind": "Widget"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {}}],
        }
    }
    (widgets,) = resources_of(crd)
    assert bookmark(7, widgets).document == (
        b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"resourceVersion":"7"}}'
    )


def test_clients_that_go_on_reading_are_not_cut_off_however_long_all_of_them_take():
    """The budget of 100 ms is for those who do not read, not for the sum of everybody's reading."""

    async def run():
        several = [watcher(size=2) for _ in range(5)]
        dispatcher = Dispatcher(budget=TimeBudget(lambda: 0.0))  # never refilled
        for one in several:
            dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())

        async def read(one: Watcher) -> int:
            seen = 0
            async for batch in one.batches():
                seen += len(batch)
                if seen == 40:
                    one.end("done")
                await asyncio.sleep(0.01)  # a client that takes this long for each batch
            return seen

        readers = [asyncio.create_task(read(one)) for one in several]
        for rv in range(1, 41):
            await dispatcher.room()
            dispatcher.submit([event("ADDED", obj(f"a/{rv}", rv))])
        seen = await asyncio.gather(*readers)
        task.cancel()
        return seen, dispatcher.terminated

    assert virtual_time.run(run()) == ([40] * 5, 0)


def test_a_process_that_stalls_cuts_no_watcher_off():
    """When it goes on, the client's turn to read and the end of the dispatcher's patience have both come."""

    async def run():
        one, dispatcher = watcher(size=1), Dispatcher(budget=TimeBudget(lambda: 0.0))
        dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())

        async def read() -> list[int]:
            await asyncio.sleep(0.01)  # a client that is slow to read
            return [out.rv for out in await anext(one.batches())]

        reader = asyncio.create_task(read())
        for rv in (1, 2):
            dispatcher.submit([event("ADDED", obj(f"a/{rv}", rv))])
        while dispatcher._budget._available:  # until the dispatcher waits for the client
            await asyncio.sleep(0)
        asyncio.get_running_loop().now += 0.2  # the stall
        seen = await reader
        while dispatcher.rv != 2:
            await asyncio.sleep(0)
        task.cancel()
        return seen, one.buffered, one.cause, dispatcher.terminated

    assert virtual_time.run(run()) == ([1], 1, "", 0)


def test_one_event_wakes_few_watchers_in_a_turn_of_the_loop_and_none_of_them_is_slow():
    async def run():
        several = [watcher(size=1) for _ in range(10 * WOKEN_AT_ONCE)]
        dispatcher = Dispatcher(budget=TimeBudget(lambda: 0.0))  # never refilled
        woken: list[int] = []  # watchers, by turn

        async def read(one: Watcher) -> int:
            seen = 0
            async for batch in one.batches():
                woken[-1] += 1
                seen += len(batch)
                if seen == 3:
                    one.end("done")
            return seen

        for one in several:
            dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())
        readers = [asyncio.create_task(read(one)) for one in several]
        await asyncio.sleep(0)
        for rv in (1, 2, 3):  # more than a watcher's queue takes
            dispatcher.submit([event("ADDED", obj(f"a/{rv}", rv))])
        while not all(reader.done() for reader in readers):
            woken.append(0)
            await asyncio.sleep(0)
        task.cancel()
        return {reader.result() for reader in readers}, max(woken), dispatcher.terminated

    assert asyncio.run(run()) == ({3}, WOKEN_AT_ONCE, 0)


@pytest.mark.parametrize(("watchers", "batches"), [(WOKEN_AT_ONCE, (1, 1, 1)), (2 * WOKEN_AT_ONCE, (1, 2))])
def test_after_a_round_of_several_turns_events_gather_for_as_long_as_it_took(watchers, batches):
    async def run():
        loop, dispatcher, ended = asyncio.get_running_loop(), Dispatcher(), []
        several = [watcher() for _ in range(watchers)]

        async def read(one: Watcher) -> tuple[int, ...]:
            sizes = []
            while sum(sizes) < 3:
                sizes.append(len(await anext(one.batches())))
                loop.now += 0.0001  # a write
                ended.append(loop.now)
            return tuple(sizes)

        for one in several:
            dispatcher.watchers.add(one)
        task = asyncio.create_task(dispatcher.run())
        readers = [asyncio.create_task(read(one)) for one in several]
        for rv in (1, 2, 3):
            dispatcher.submit([event("ADDED", obj(f"a/{rv}", rv))])
            for _ in range(20):  # turns of the loop
                await asyncio.sleep(0)
        seen = set(await asyncio.gather(*readers))
        task.cancel()
        return seen, ended[watchers] - ended[watchers - 1]

    rest = 0.0001 * watchers if len(batches) == 2 else 0.0
    assert virtual_time.run(run()) == ({batches}, pytest.approx(rest + 0.0001))
