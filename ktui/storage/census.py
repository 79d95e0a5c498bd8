"""Count keys and bytes under each prefix for the screens, with little load, and publish changes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable

from msgspec.structs import asdict

from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.contract.events import Prefix
from ktui.etcd.errors import EtcdError
from ktui.storage.browser import EtcdBrowser
from ktui.telemetry.bus import Bus

# Seconds between two counts. kube-apiserver counts once a minute; an etcd that ktui owns may be read more
# often.
OWN_SECONDS, FOREIGN_SECONDS = 5.0, 60.0
_CHECK_SECONDS = 1.0  # how often to check, without reading etcd, whether a count is due or etcd was emptied


class Census:
    """Counts the children of the root prefix, and those of groups below it, periodically."""

    def __init__(self, browser: EtcdBrowser, root: str, bus: Bus, every: float) -> None:
        self._browser = browser
        self._root = f"{root.rstrip('/')}/"
        self._bus = bus
        self._every = every
        self._due = 0.0
        self._published: dict[str, Prefix] = {}
        bus.add_snapshot(self.latest)

    def latest(self) -> Iterable[Prefix]:
        """Return the last count of every prefix."""
        return list(self._published.values())

    def hurry(self) -> None:
        """Count at the next check: much is being written."""
        self._due = 0.0

    async def run(self) -> None:
        """Count until cancelled. If etcd does not answer, the next count tries again."""
        histories = -1
        while True:
            if self._browser.histories != histories or time.monotonic() >= self._due:
                histories, self._due = self._browser.histories, time.monotonic() + self._every
                with contextlib.suppress(EtcdError):  # the ledger has reported the error
                    await self.count()
            await asyncio.sleep(_CHECK_SECONDS)

    async def count(self) -> None:
        """Count once and publish what has changed; a prefix that is now empty has 0 keys."""
        found: dict[str, Prefix] = {}
        for child in (await self._browser.prefixes(self._root)).children:
            name = child.prefix.rstrip("/").rpartition("/")[2]
            grouped = "." in name or name == "services"  # resources are below an API group of custom ones
            if child.resource or child.leaf or not grouped:
                found[child.prefix] = _event(child)
                continue
            below: PrefixPage = await self._browser.prefixes(child.prefix)
            found.update((grandchild.prefix, _event(grandchild)) for grandchild in below.children)
        for prefix in self._published.keys() - found.keys():
            found[prefix] = Prefix(prefix=prefix)
        for prefix, event in found.items():
            if self._published.get(prefix) != event:
                self._published[prefix] = event
                self._bus.publish(event)


def _event(child: PrefixChild) -> Prefix:
    figures = {name: value for name, value in asdict(child).items() if name != "leaf"}
    return Prefix(**figures, leased=child.resource == "events")
