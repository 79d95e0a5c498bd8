"""Which requests are one row of the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ktui.core.access_patterns import OWN_AGENT

if TYPE_CHECKING:
    from ktui.core.ranking.shape import RequestShape
    from ktui.core.rows import RequestRow

MOST_FIRST_PAGES = 1_024
_FOLLOWING = ("at revision", "at latest")


class GroupKey(NamedTuple):
    """`client`: as the log names it, the user agent's first word without its version."""

    client: str
    shape: RequestShape


class GroupKeys:
    """Gives each request its key; the pages of a LIST get that of its first page."""

    def __init__(self) -> None:
        self._first_pages: dict[GroupKey, GroupKey] = {}  # by what all pages of the LIST have in common

    def of(self, row: RequestRow) -> GroupKey | None:
        """None for a request of no stored resource, and for ktui's own."""
        if row.started.user_agent.startswith(OWN_AGENT):
            return None
        from ktui.core.ranking.shape import shape_of_uri  # the rules: not before the first frame

        shape = shape_of_uri(row.target)
        if shape is None:
            return None
        key = GroupKey(row.started.client, shape)
        if shape.verb != "list" or not (shape.limit or shape.continued):
            return key
        common = GroupKey(key.client, _without_revision(shape))
        if shape.continued in _FOLLOWING:
            return self._first_pages.get(common, common)
        if len(self._first_pages) >= MOST_FIRST_PAGES:
            self._first_pages.clear()
        self._first_pages[common] = key
        return key


def _without_revision(shape: RequestShape) -> RequestShape:
    """Only the first page names a resourceVersion: the continue token has that of the others."""
    from msgspec.structs import replace  # slow to load: not before the first frame

    return replace(shape, continued="", resource_version="unset", match="")
