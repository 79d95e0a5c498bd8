"""The browser for HTTP: what etcd refuses is a Status."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.contract.etcd import KeyPage, PrefixPage, StoredKey
from ktui.storage.browser import Browser, KeyValue
from ktui.storage.errors import browsing


class AskedBrowser:
    """The same questions as Browser's; StatusError for whatever keeps etcd from answering."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    async def prefixes(self, prefix: str) -> PrefixPage:
        with browsing():
            return await self._browser.prefixes(prefix)

    async def keys(self, prefix: str, limit: int = 500, after: str = "") -> KeyPage:
        with browsing():
            return await self._browser.keys(prefix, limit, after)

    async def key(self, key: str, revision: int = 0) -> KeyValue | None:
        with browsing():
            return await self._browser.key(key, revision)

    async def history(self, key: str, limit: int = 100) -> Sequence[StoredKey]:
        with browsing():
            return await self._browser.history(key, limit)
