"""The keys of one prefix, read page by page."""

from __future__ import annotations

from ktui.contract.etcd import KeyPage, StoredKey


class KeyList:
    """Keys of one prefix, page by page in key order, or the first ones in another order."""

    def __init__(self, prefix: str, sort: str = "") -> None:
        """`sort`: a column, with a leading `-` for descending order; "": by key, page by page."""
        self.prefix = prefix
        self.sort = sort
        self.keys: list[StoredKey] = []
        self.count = 0
        self.revision = 0
        self._next: str | None = ""

    @property
    def complete(self) -> bool:
        return self._next is None

    @property
    def after(self) -> str:
        """The key after which the next page begins; only while not `complete`."""
        return self._next or ""

    def wants_more(self, last_visible: int, ahead: int) -> bool:
        """Return True if row `last_visible` is within `ahead` rows of the last key read."""
        return not self.complete and last_visible + ahead >= len(self.keys)

    def extend(self, page: KeyPage) -> None:
        self.keys.extend(page.keys)
        self.count = max(page.count, len(self.keys))
        self.revision = page.revision
        self._next = page.next or None
