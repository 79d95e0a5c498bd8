"""The keys of one prefix, page by page."""

from __future__ import annotations

from ktui.contract.etcd import KeyPage, StoredKey


class KeyList:
    """Keys of one prefix, read page by page in key order, or the first ones by another order."""

    def __init__(self, prefix: str, sort: str = "") -> None:
        """`sort`: a column, `-` before it for the other direction: the first keys by it; "": by key."""
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
        """Where the next page begins; only while not `complete`."""
        return self._next or ""

    def wants_more(self, last_visible: int, ahead: int) -> bool:
        """Whether row `last_visible` comes within `ahead` rows of what has been read."""
        return not self.complete and last_visible + ahead >= len(self.keys)

    def extend(self, page: KeyPage) -> None:
        self.keys.extend(page.keys)
        self.count = max(page.count, len(self.keys))
        self.revision = page.revision
        self._next = page.next or None
