"""Transcode a large cache's first object before the first request for it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ktui.etcd.errors import EtcdError

if TYPE_CHECKING:
    from ktui.cacher.sorted_store import SortedStore

# Small caches are left to their first reader: to prewarm all kinds would take a second at start.
LARGE = 1000


async def prewarm(filled: asyncio.Event, store: SortedStore) -> None:
    """Wait until the cache is filled, then have one object transcoded off the event loop.

    The functions for its kind are generated with the first one: 100 ms for pods,
    for which no other request should wait.
    """
    await filled.wait()
    if len(store) < LARGE:
        return
    (first,) = store.page(0, 1)
    with contextlib.suppress(EtcdError):  # the request for that object gets the error
        await asyncio.to_thread(first.item_pieces)
