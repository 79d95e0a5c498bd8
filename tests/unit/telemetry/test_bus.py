"""The bus: numbered events, state first, and honest drops."""

import asyncio

from ktui.contract.events import Dropped, EtcdProgress
from ktui.telemetry.bus import Bus


async def first_batch(bus: Bus, backlog: int, publish: int) -> list[object]:
    subscription = bus.subscribe(backlog)
    for head in range(publish):
        bus.publish(EtcdProgress(head=head))
    async for batch in subscription.batches():
        return list(batch)
    return []


def test_a_slow_reader_is_told_how_many_it_missed() -> None:
    batch = asyncio.run(first_batch(Bus(now=lambda: 7.0), backlog=3, publish=5))
    assert batch[0] == Dropped(count=2, at=7.0)
    assert [event.head for event in batch[1:]] == [2, 3, 4]  # type: ignore[attr-defined]


def test_events_are_numbered_without_gaps_and_stamped() -> None:
    batch = asyncio.run(first_batch(Bus(now=lambda: 7.0), backlog=10, publish=3))
    assert [(event.seq, event.at) for event in batch] == [(1, 7.0), (2, 7.0), (3, 7.0)]  # type: ignore[attr-defined]


def test_a_new_reader_gets_the_present_state_first() -> None:
    async def run() -> list[object]:
        bus = Bus(now=lambda: 7.0)
        bus.add_snapshot(lambda: [EtcdProgress(head=41)])
        return await first_batch(bus, backlog=10, publish=1)

    assert [event.head for event in asyncio.run(run())] == [41, 0]  # type: ignore[attr-defined]


def test_a_closed_subscription_ends_and_costs_nothing() -> None:
    async def run() -> tuple[bool, int]:
        bus = Bus()
        subscription = bus.subscribe()
        assert bus.watched
        bus.publish(EtcdProgress(head=1))
        subscription.close()
        batches = [batch async for batch in subscription.batches()]
        return bus.watched, len(batches)

    assert asyncio.run(run()) == (False, 1)
