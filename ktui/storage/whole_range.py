"""A whole range of keys, read in responses of about 8 MiB at one revision."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import takewhile

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import UnimplementedError
from ktui.etcd.types import RangeResult
from ktui.storage.keys import range_end
from ktui.supervision import stop

MAX_PAGE = 10_000  # kube-apiserver: maxLimit
_FIRST_CHUNK = 500
_CHUNK_BYTES = 8 << 20


class Chunks:
    """Chunk sizes for reading a whole range in responses of about 8 MiB, estimated from the values read so
    far.

    kube-apiserver reads an unlimited list with one Range; with 100,000 pods that is one response of 600 MB,
    which overloads etcd and ktui. All chunks have the first one's revision.
    """

    def __init__(self, most: int = MAX_PAGE) -> None:
        self._most = most
        self.size = min(_FIRST_CHUNK, most)
        self._keys = 0
        self._bytes = 0

    def record(self, keys: int, size: int) -> None:
        """Record a response: its number of keys and its bytes of values."""
        self._keys += keys
        self._bytes += size
        if self._bytes:
            fitting = _CHUNK_BYTES * self._keys // self._bytes
            self.size = max(1, min(fitting, self.size * 4, self._most))


class Bounds:
    """The ranges in which one range is read, page by page: from `start` to `bound` is the next.

    etcd counts all keys from a page's start to its end, whatever the limit: a million keys in a thousand
    pages would be 500 million counted. So a page with many more keys behind it is followed by the rest of the
    keys that begin as its first and last key do; these by the rest of those that begin as a shorter prefix:
    soon by all of the namespace, then by namespaces that begin alike, with one character less each time. A
    range without a key costs etcd next to nothing.
    """

    _MANY = 16  # pages; fewer are counted to the end each time

    def __init__(self, start: bytes, end: bytes) -> None:
        self.start, self.bound, self._end = start, end, end
        self._shared = b""
        self._wider = 1  # characters that the next prefix has less; doubled within the name of an object
        self._root = len(common_prefix(start, end)) + 1  # where the names of namespaces, or of objects, begin

    def advance(self, answer: RangeResult, limit: int) -> bool:
        """Go on after a page of at most `limit` keys; return False at the end of the range."""
        if answer.more and answer.kvs:
            first, last = answer.kvs[0].key, answer.kvs[-1].key
            self.start, self._wider = last + b"\0", 1
            if answer.count > self._MANY * limit:
                self._narrow(common_prefix(first, last))
            return True
        if self.bound == self._end:
            return False
        self.start = self.bound
        while self.bound <= self.start:
            # The end of the namespace's name; 0: the prefix ends in it, or there is none.
            namespace = self._shared.rfind(b"/", self._root, -1) + 1
            cut = max(namespace, len(self._shared) - self._wider)
            self._wider = 1 if cut == namespace or not namespace else 2 * self._wider
            self._narrow(self._shared[: max(cut, 0)])
        return True

    def _narrow(self, shared: bytes) -> None:
        self._shared = shared
        self.bound = min(range_end(shared), self._end) if shared else self._end


def common_prefix(one: bytes, other: bytes) -> bytes:
    """Return the bytes with which both begin."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return one[: sum(1 for _ in same)]


async def read_range(
    client: EtcdClient,
    start: bytes,
    end: bytes,
    *,
    revision: int = 0,
    most: int = MAX_PAGE,
    purpose: str = "",
    stream: bool = False,
) -> AsyncGenerator[RangeResult, None]:
    """Yield responses of at most `most` keys and about 8 MiB, all at one revision: the given or the first
    one's.

    Yields at least one response, even if it is empty. Only one request is in flight at a time. `stream`: as
    one RangeStream, if etcd has it; then only the last response has revision and count.
    """
    if stream and client.range_streams.supported is not False:
        try:
            async with aclosing(
                client.range_stream(start, end, revision=revision, purpose=purpose)
            ) as results:
                async for result in results:
                    yield result
            return
        except UnimplementedError:  # raised before the first result
            pass
    pages = _pages(client, start, end, revision, most, purpose)
    async with aclosing(pages) as answers:
        async for answer in answers:
            yield answer


async def _pages(
    client: EtcdClient, start: bytes, end: bytes, revision: int, most: int, purpose: str
) -> AsyncGenerator[RangeResult, None]:
    chunks, bounds = Chunks(most), Bounds(start, end)
    answer = await client.range(start, end, limit=chunks.size, revision=revision, purpose=purpose)
    revision = revision or answer.revision
    while bounds.advance(answer, chunks.size):
        chunks.record(len(answer.kvs), sum(len(kv.value) for kv in answer.kvs))
        following = asyncio.ensure_future(
            client.range(bounds.start, bounds.bound, limit=chunks.size, revision=revision, purpose=purpose)
        )
        try:
            if answer.kvs:
                yield answer
            answer = await following
        finally:
            if not following.done():
                await stop(following)
            elif not following.cancelled():
                following.exception()  # retrieved, in case the response is never awaited
    yield answer
