"""Count the objects of a resource without a watch cache periodically, in etcd."""

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

# kube-apiserver's default of --etcd-count-metric-poll-period (seconds).
PERIOD = 60.0


class ObjectCount:
    """Counts one resource. kube-apiserver counts every resource once a minute; here only the requested ones.

    The count is a `count_only` range: etcd reads its index, but no values.
    """

    def __init__(self, store: Store, supervisor: Supervisor) -> None:
        self._store = store
        self._supervisor = supervisor
        self._value: int | None = None
        self._started_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def latest(self) -> int | None:
        """Return the last count, None before the first; start another in the background if it is old."""
        # Both groups of events are one registry, which is counted under its core name.
        if self._store.resource.group == "events.k8s.io":
            return None
        due = self._value is None or time.monotonic() - self._started_at >= PERIOD
        if due and (self._task is None or self._task.done()):
            self._started_at = time.monotonic()
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
