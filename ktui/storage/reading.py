"""Read a whole range of etcd in chunks, the next one while the current one is processed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ktui.etcd.client import EtcdClient
from ktui.etcd.types import RangeResult
from ktui.storage.paging import MAX_PAGE, Chunks
from ktui.supervision import stop


async def read_range(
    client: EtcdClient,
    start: bytes,
    end: bytes,
    *,
    revision: int = 0,
    most: int = MAX_PAGE,
    purpose: str = "",
) -> AsyncGenerator[RangeResult, None]:
    """Yield responses of at most `most` keys and about 8 MiB, all at one revision: the given or the first
    one's.

    Yields at least one response, even if it is empty. Only one request is in flight at a time.
    """
    chunks = Chunks(most)
    answer = await client.range(start, end, limit=chunks.size, revision=revision, purpose=purpose)
    revision = revision or answer.revision
    while answer.more and answer.kvs:
        chunks.record(len(answer.kvs), sum(len(kv.value) for kv in answer.kvs))
        following = asyncio.ensure_future(
            client.range(
                answer.kvs[-1].key + b"\0", end, limit=chunks.size, revision=revision, purpose=purpose
            )
        )
        try:
            yield answer
            answer = await following
        finally:
            if not following.done():
                await stop(following)
            elif not following.cancelled():
                following.exception()  # retrieved, in case the response is never awaited
    yield answer
