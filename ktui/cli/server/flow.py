"""Flow control of a server: its limits, stored configuration, pages and telemetry."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from ktui.apiserver.dispatch import Handlers
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cli.logs import log_of
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.flowcontrol.level_events import FlowReporter, pages
from ktui.flowcontrol.levels import ADJUSTMENT_SECONDS
from ktui.flowcontrol.stored import StoredFlowConfig
from ktui.supervision import stop
from ktui.telemetry.bus import Bus

log = log_of(__name__)

SYNC_SECONDS = 5.0


class ServerFlow:
    """Flow control.

    `follows`: the stored FlowSchemas and PriorityLevelConfigurations apply, else the defaults.
    """

    def __init__(
        self, registry: Registry, settings: Settings, bus: Bus, reads: int, writes: int, *, follows: bool
    ) -> None:
        self._registry = registry
        self._settings = settings
        self.controller = PriorityAndFairness(reads, writes)
        self.stored: StoredFlowConfig | None = None
        if follows:
            self.stored = StoredFlowConfig(registry, settings, self.controller)
        self._reporter = FlowReporter(bus, settings, self.controller, self._present)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def handlers(self) -> Handlers:
        return Handlers(pages=pages(self.controller, self._settings, time.monotonic))

    async def start(self, *, writable: bool) -> None:
        """Create the default objects if `writable`, and wait until the stored objects are read.

        Waits at most SYNC_SECONDS.
        """
        start = self._registry.supervisor.start
        self._tasks.append(start("the report of flow control", self._reporter.run))
        self._tasks.append(start("the adjustment of priority levels", self._adjust))
        if self.stored is None:
            return
        try:
            async with asyncio.timeout(SYNC_SECONDS):
                if writable:
                    await self.stored.ensure()
                self.stored.start(writable=writable)
                await self.stored.synced.wait()
        except TimeoutError:
            log.warning("flow schemas are still being read: until then kube-apiserver's own are in force")
        except ExceptionGroup as error:
            log.warning("flow schemas could not be created: %s", error.exceptions[0])
            self.stored.start(writable=False)

    async def stop(self) -> None:
        await stop(*self._tasks)
        self._tasks.clear()
        if self.stored is not None:
            await self.stored.stop()

    def _present(self) -> tuple[list[Any], list[Any]]:
        return self.stored.stored if self.stored is not None else ([], [])

    async def _adjust(self) -> None:
        while True:
            await asyncio.sleep(ADJUSTMENT_SECONDS)
            self.controller.levels.adjust()
