"""The browser for HTTP: what etcd refuses is a Status."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.storage.browser import Browser, KeyListing, KeyRow, KeyValue, PrefixListing
from ktui.storage.errors import browsing


class AskedBrowser:
    """The same questions as Browser's; StatusError for whatever keeps etcd from answering."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    async def prefixes(self, prefix: str) -> PrefixListing:
        with browsing():
            return await self._browser.prefixes(prefix)

    async def keys(self, prefix: str, limit: int = 500, after: str = "") -> KeyListing:
        with browsing():
            return await self._browser.keys(prefix, limit, after)

    async def key(self, key: str, revision: int = 0) -> KeyValue | None:
        with browsing():
            return await self._browser.key(key, revision)

    async def history(self, key: str, limit: int = 100) -> Sequence[KeyRow]:
        with browsing():
            return await self._browser.history(key, limit)
