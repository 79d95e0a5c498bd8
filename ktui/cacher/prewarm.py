"""Transcode a large cache's first object before the first request for it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ktui.etcd.errors import EtcdError

if TYPE_CHECKING:
    from ktui.cacher.sorted_store import SortedStore

# Smaller caches are not prewarmed: prewarming all kinds would take a second at start.
LARGE = 1000


async def prewarm(filled: asyncio.Event, store: SortedStore) -> None:
    """Wait until the cache is filled, then transcode one object off the event loop.

    The functions for a kind are generated with its first object: 100 ms for pods, which would delay every
    other request.
    """
    await filled.wait()
    if len(store) < LARGE:
        return
    (first,) = store.page(0, 1)
    with contextlib.suppress(EtcdError):  # the request for that object gets the error
        await asyncio.to_thread(first.item_pieces)
