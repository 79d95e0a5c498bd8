"""A kube-apiserver's metrics as the dashboard's source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ktui.client.connection import ClientError
from ktui.client.exec_plugin import waiting
from ktui.contract.events import AnyEvent
from ktui.tui.source import Report, TelemetrySource

if TYPE_CHECKING:
    from ktui.live.server_details import LiveFeed


class ClusterSource(TelemetrySource):
    """Connects with a new feed from `make` each time, as the kubeconfig may have changed.

    There is no client, as the screens over metrics send no requests themselves. `announcement` returns a
    sentence about a program that connecting runs, "" without one.
    """

    restartable = True
    reconnects = True

    def __init__(
        self, make: Callable[[], LiveFeed], name: str, announcement: Callable[[], str] = lambda: ""
    ) -> None:
        self._make = make
        self._announcement = announcement
        self._name = name
        self._feed: LiveFeed | None = None
        self._first: list[AnyEvent] = []

    async def connect(self, report: Report) -> None:
        report(f"connecting to {self._name}")
        # httpx is slow to import: in a thread, after the first frame.
        await asyncio.to_thread(import_module, "ktui.live.scraper")
        if text := await asyncio.to_thread(self._announcement):
            report(text)
        await self.close()
        self._feed = self._make()
        starting = asyncio.ensure_future(self._feed.start())
        try:
            while not (await asyncio.wait({starting}, timeout=1.0))[0]:
                if text := waiting():
                    report(text)
        finally:
            starting.cancel()  # has no effect once it is done
        self._first = starting.result()

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        if self._feed is None:
            raise ClientError("not connected yet")
        yield self._first
        async for batch in self._feed.batches():
            if batch:
                yield batch

    async def probe(self, path: str, resource: str) -> list[AnyEvent]:
        """Send the probe of `Scraper.probe`. Raises ClientError."""
        probe = getattr(self._feed, "probe", None)
        if probe is None:
            raise ClientError("there are no probes through Prometheus: --kubeconfig has them")
        found: list[AnyEvent] = await probe(path, resource)
        return found

    def refresh(self) -> None:
        """Scrape or query now instead of after the interval."""
        if self._feed is not None:
            self._feed.refresh()

    async def close(self) -> None:
        feed, self._feed = self._feed, None
        if feed is not None:
            await feed.close()
