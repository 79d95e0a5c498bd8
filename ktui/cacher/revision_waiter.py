"""Wait until a watch cache has reached a resourceVersion."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count

# kube-apiserver's blockTimeout.
BLOCK_TIMEOUT = 3.0


class RevisionWaiter:
    """The newest resourceVersion that a cache has seen, and the readers that wait for a newer one."""

    def __init__(self) -> None:
        self.rv = 0
        self._order = count()
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []

    @property
    def waiting(self) -> int:
        return sum(not future.done() for _, _, future in self._waiters)

    def wanted(self, rv: int) -> bool:
        """Return True if a reader waits for `rv` or less."""
        return bool(self._waiters) and self._waiters[0][0] <= rv

    def reset(self, rv: int) -> None:
        """Record that the store was filled again at `rv`, which may be older after a restore of etcd."""
        self.rv = rv
        self._wake()

    def advance(self, rv: int) -> None:
        """Record that an event or a progress notification at `rv` arrived."""
        if rv > self.rv:
            self.rv = rv
            self._wake()

    async def wait(self, rv: int, within: float = BLOCK_TIMEOUT) -> bool:
        """Return True as soon as `rv` is reached, False after `within` seconds."""
        if rv <= self.rv:
            return True
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (rv, next(self._order), future))
        try:
            async with asyncio.timeout(within):
                await future
        except TimeoutError:
            self._forget_done()
            return False
        finally:
            future.cancel()
        return True

    def _wake(self) -> None:
        while self._waiters and self._waiters[0][0] <= self.rv:
            _, _, future = heapq.heappop(self._waiters)
            if not future.done():
                future.set_result(None)

    def _forget_done(self) -> None:
        self._waiters = [waiter for waiter in self._waiters if not waiter[2].done()]
        heapq.heapify(self._waiters)
