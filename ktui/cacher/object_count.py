"""The number of objects of a resource without a watch cache, counted by etcd periodically."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from ktui.etcd.errors import EtcdError
from ktui.supervision import Supervisor, stop

if TYPE_CHECKING:
    from ktui.storage.store import Store

log = logging.getLogger(__name__)

# kube-apiserver: --etcd-count-metric-poll-period.
PERIOD = 60.0


class ObjectCount:
    """kube-apiserver counts each resource once a minute; here only the requested ones.

    A `count_only` range: etcd reads its index, no values.
    """

    def __init__(self, store: Store, supervisor: Supervisor) -> None:
        self._store = store
        self._supervisor = supervisor
        self._value: int | None = None
        self._asked_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def latest(self) -> int | None:
        """The last count, None before the first. Starts another in the background if it is old."""
        # Both groups of events are one registry, counted under its core name.
        if self._store.resource.group == "events.k8s.io":
            return None
        due = self._value is None or time.monotonic() - self._asked_at >= PERIOD
        if due and (self._task is None or self._task.done()):
            self._asked_at = time.monotonic()
            self._task = self._supervisor.start(f"the count of {self._store.resource.id}", self._count)
        return self._value

    async def close(self) -> None:
        if self._task is not None:
            await stop(self._task)

    async def _count(self) -> None:
        try:
            self._value = await self._store.count()
        except EtcdError as error:
            log.warning("%s cannot be counted: %s", self._store.resource.id, error)
