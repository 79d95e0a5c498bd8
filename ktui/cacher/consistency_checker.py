"""Compare a cache with etcd periodically.

kube-apiserver's DetectCacheInconsistency (1.34+): every 5 to 7.5 minutes. After a failure snapshots are not
served until a check has succeeded.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from typing import TYPE_CHECKING

from ktui.cacher.consistency_check import check
from ktui.etcd.errors import EtcdError

if TYPE_CHECKING:
    from ktui.cacher.settings import Settings
    from ktui.cacher.watch_cache import WatchCache
    from ktui.storage.store import Store

PERIOD = 300.0
JITTER = 0.5
SUCCESS, FAILURE, ERROR = "success", "failure", "error"

log = logging.getLogger(__name__)


class ConsistencyChecker:
    """Checks one cache. `counts` has the number of checks by outcome.

    A check reads the whole resource from etcd, so it runs only on an etcd that ktui owns
    (`settings.check_consistency`).
    """

    def __init__(self, store: Store, cache: WatchCache, settings: Settings, ready: asyncio.Event) -> None:
        self.counts: Counter[str] = Counter()
        self._store = store
        self._cache = cache
        self._settings = settings
        self._ready = ready

    async def run(self) -> None:
        """Check periodically until cancelled, if the version has the feature and the setting allows it."""
        while True:
            await asyncio.sleep(PERIOD * random.uniform(1.0, 1.0 + JITTER))
            wanted = self._settings.check_consistency and self._settings.behaviour.detect_cache_inconsistency
            if wanted and self._ready.is_set():
                await self.once()

    async def once(self) -> str:
        """Check now; return the outcome."""
        name = self._store.resource.id
        try:
            result = await check(self._store, self._cache)
        except EtcdError as error:
            log.warning("Cache consistency check of %s could not be made: %s", name, error)
            outcome = ERROR
        else:
            outcome = SUCCESS if result.consistent else FAILURE
            if not result.consistent:
                log.error("Cache consistency check failed: %s: %s", name, result)
            self._cache.snapshots.trust(result.consistent)
        self.counts[outcome] += 1
        return outcome
