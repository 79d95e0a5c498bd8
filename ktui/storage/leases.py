"""Leases that expiring objects (events) share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ktui.etcd.client import EtcdClient

MAX_OBJECTS = 1000
_REUSE_SHARE = 0.05
_REUSE_MOST = 60  # seconds


def reuse_seconds(ttl: int) -> int:
    """The extra seconds for which a lease is granted beyond `ttl`, so that later objects can share it."""
    return int(min(ttl * _REUSE_SHARE, _REUSE_MOST))


class Leases:
    """kube-apiserver's lease manager: one lease for many objects, at most MAX_OBJECTS.

    A lease is reused if it outlives an object's `ttl`, but not by more than the reuse time.
    """

    def __init__(self, client: EtcdClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._granting = asyncio.Lock()
        self._lease = 0
        self._expires = 0.0
        self._objects = 0

    async def lease_for(self, ttl: int) -> int:
        """Return a lease that lasts at least `ttl` seconds, for one more object."""
        async with self._granting:
            now = self._clock()
            reuse = reuse_seconds(ttl)
            self._objects += 1
            reusable = now + ttl < self._expires <= now + ttl + reuse
            if not reusable or self._objects > MAX_OBJECTS:
                self._lease = await self._client.grant_lease(ttl + reuse)
                self._expires = now + ttl + reuse
                self._objects = 1
            return self._lease
