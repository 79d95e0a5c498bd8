"""However a WATCH ends, its client has all events of a transaction or none."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from cacher_model import event, obj, selection
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher.cache_watch import CacheWatch, Feed
from ktui.cacher.dispatcher import Dispatcher, TimeBudget
from ktui.cacher.watch_cache import WatchCache
from ktui.etcd.types import KV, WatchBatch, WatchEvent
from ktui.storage.errors import UnreadableError
from ktui.storage.store import StoreWatch

NAMES = [f"{namespace}/{name}" for namespace in "ab" for name in "xyz"]
TRANSACTIONS = st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=1, max_size=12)
WANTED = st.sampled_from([{}, {"namespace": "a"}, {"name": "x"}, {"colour": "red"}])
# How a stream ends, and after which transaction; a slow one is ended when it has no room.
ENDS = st.tuples(
    st.sampled_from(["timeout", "server stopping", "cache reinitialized", ""]), st.integers(0, 12)
)


@given(TRANSACTIONS, WANTED, st.integers(1, 4), st.integers(0, 12), ENDS)
def test_a_stream_ends_between_transactions(changed, wanted, size, read_until, ending):
    """Some events come from the buffer of events, some live; the client reads them all, or stops reading."""
    transactions = [
        [event("ADDED", obj(key, rv, colour="red" if rv % 2 else "blue")) for key in sorted(keys)]
        for rv, keys in enumerate(changed, 1)
    ]

    async def run() -> tuple[CacheWatch, list[tuple[int, str]], int]:
        budget = TimeBudget(lambda: 0.0)
        budget.take()  # who does not read is ended at once
        cache, dispatcher = WatchCache(), Dispatcher(budget=budget)
        cache.replace([], 0)
        clock: Any = SimpleNamespace(remove=lambda _: None)
        stream = CacheWatch(Feed(cache, dispatcher, clock), selection(**wanted), 0, size)
        seen: list[tuple[int, str]] = []
        reading = asyncio.Event()

        async def read() -> None:
            async for batch in stream.batches():
                seen.extend((out.rv, out.object.key) for out in batch if out.object is not None)
                if seen[-1][0] > read_until and not stream.closed:
                    reading.clear()
                    await reading.wait()

        tasks = [asyncio.create_task(dispatcher.run()), asyncio.create_task(read())]
        cause, after = ending
        for rv, transaction in enumerate(transactions, 1):
            for one in transaction:
                cache.event_buffer.append(one)
            dispatcher.submit(transaction)
            if rv == after:
                await asyncio.sleep(0)
                if cause == "cache reinitialized":
                    dispatcher.reset(rv, cause)
                elif cause:
                    stream.close(cause)
            elif rv % 3 == 0:
                await asyncio.sleep(0)
        while dispatcher.rv < len(transactions):
            await asyncio.sleep(0)
        stream.close("done")
        reading.set()
        await tasks[1]
        tasks[0].cancel()
        return stream, seen, len(transactions)

    stream, seen, revisions = asyncio.run(run())
    reached = max((rv for rv, _ in seen), default=0)
    # A client that resumes from the last revision seen has missed nothing before it.
    assert seen == [
        (one.rv, one.object.key)
        for transaction in transactions
        for one in transaction
        if one.rv <= reached and stream.concerns(one.object) and stream.matches(one.object)
    ]
    assert reached <= revisions


class Batches:
    """A stream of etcd that sends these batches."""

    def __init__(self, *batches: WatchBatch) -> None:
        self._batches = iter(batches)

    async def __anext__(self) -> WatchBatch:
        try:
            return next(self._batches)
        except StopIteration:
            raise StopAsyncIteration from None


def put(key: bytes, revision: int) -> WatchEvent:
    return WatchEvent("PUT", KV(key, b"", revision, revision, 1, 0), None)


class Reader:
    """Reads every value but those of keys that end in "bad"."""

    def scanned(self, kv: KV) -> Any:
        if kv.key.endswith(b"bad"):
            raise UnreadableError(kv.key.decode(), "it is encrypted")
        return obj(kv.key.decode(), kv.mod_revision)


def test_a_batch_of_etcd_is_handed_out_by_revision_and_progress_by_itself():
    async def run() -> list[list[tuple[str, int]]]:
        batch = [put(b"a", 5), put(b"b", 5), put(b"c", 6)]
        stream: Any = Batches(WatchBatch(6, batch, False), WatchBatch(9, [], True))
        reader: Any = Reader()
        return [[(one.type, one.rv) for one in events] async for events in StoreWatch(reader, stream)]

    assert asyncio.run(run()) == [[("ADDED", 5), ("ADDED", 5)], [("ADDED", 6)], [("BOOKMARK", 9)]]


def test_nothing_of_a_transaction_is_handed_out_when_one_of_its_values_cannot_be_read():
    async def run() -> None:
        stream: Any = Batches(WatchBatch(5, [put(b"a", 5), put(b"bad", 5)], False))
        reader: Any = Reader()
        with pytest.raises(UnreadableError):
            await anext(StoreWatch(reader, stream))

    asyncio.run(run())
