"""Count keys and bytes under each prefix for the screens: gently, published on change."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable

from ktui.contract.etcd import PrefixChild, PrefixPage
from ktui.contract.events import Prefix
from ktui.etcd.errors import EtcdError
from ktui.storage.browser import EtcdBrowser
from ktui.telemetry.bus import Bus

# kube-apiserver itself counts once a minute; an etcd of our own may be asked more often.
OWN_SECONDS, FOREIGN_SECONDS = 5.0, 60.0
_LOOK_SECONDS = 1.0  # so often it is looked, without asking etcd, whether it is time, or was emptied


class Census:
    """Counts the children of the root prefix, and those of groups below it, again and again."""

    def __init__(self, browser: EtcdBrowser, root: str, bus: Bus, every: float) -> None:
        self._browser = browser
        self._root = f"{root.rstrip('/')}/"
        self._bus = bus
        self._every = every
        self._told: dict[str, Prefix] = {}
        bus.add_snapshot(self.latest)

    def latest(self) -> Iterable[Prefix]:
        """The last count of every prefix."""
        return list(self._told.values())

    async def run(self) -> None:
        """Count until cancelled. An etcd that does not answer is asked again the next time."""
        histories, due = -1, 0.0
        while True:
            if self._browser.histories != histories or time.monotonic() >= due:
                histories, due = self._browser.histories, time.monotonic() + self._every
                with contextlib.suppress(EtcdError):  # the ledger has reported that etcd does not answer
                    await self.count()
            await asyncio.sleep(_LOOK_SECONDS)

    async def count(self) -> None:
        """Count once and publish what has changed; a prefix that is now empty with 0 keys."""
        found: dict[str, Prefix] = {}
        for child in (await self._browser.prefixes(self._root)).children:
            if child.resource or child.leaf or not _is_group(child):
                found[child.prefix] = _event(child)
                continue
            below: PrefixPage = await self._browser.prefixes(child.prefix)
            found.update((grandchild.prefix, _event(grandchild)) for grandchild in below.children)
        for prefix in self._told.keys() - found.keys():
            found[prefix] = Prefix(prefix=prefix)
        for prefix, event in found.items():
            if self._told.get(prefix) != event:
                self._told[prefix] = event
                self._bus.publish(event)


def _is_group(child: PrefixChild) -> bool:
    """Custom resources lie under their API group: one step deeper."""
    return "." in child.prefix.rstrip("/").rpartition("/")[2]


def _event(child: PrefixChild) -> Prefix:
    return Prefix(
        prefix=child.prefix,
        resource=child.resource,
        count=child.count,
        bytes=child.bytes,
        exact=child.exact,
        leased=child.resource == "events",
    )
