"""The key of a ranking's group: requests with the same key are one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ktui.contract.events import Cost, RequestFinished, WatcherState, figures
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
    """Assigns a key to each request; all pages of a LIST have the key of its first page."""

    def __init__(self) -> None:
        self._first_pages: dict[GroupKey, GroupKey] = {}  # by the key without the revision

    def of(self, row: RequestRow) -> GroupKey | None:
        """Return the request's key; None if it reads no stored resource or is ktui's own."""
        if row.started.user_agent.startswith(OWN_AGENT):
            return None
        from ktui.core.ranking.shape import shape_of_uri  # the rules: not before the first frame

        shape = shape_of_uri(row.target)
        if shape is None:
            return None
        key = GroupKey(row.started.client, shape)
        if shape.verb != "list" or not (shape.limit or shape.continued):
            return key
        # Only the first page has a resourceVersion, the others have a token.
        common = GroupKey(key.client, replace(shape, continued="", resource_version="unset", match=""))
        if shape.continued in _FOLLOWING:
            return self._first_pages.get(common, common)
        if len(self._first_pages) >= MOST_FIRST_PAGES:
            self._first_pages.clear()
        self._first_pages[common] = key
        return key


class TotalCost(Cost, kw_only=True):
    """The total cost of `count` requests."""

    count: int = 0
    seat_seconds: float = 0.0

    def merge(self, other: TotalCost) -> None:
        for name in TotalCost.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def since(self, before: TotalCost) -> TotalCost:
        """Return the difference to `before`."""
        more = TotalCost()
        for name in TotalCost.__struct_fields__:
            setattr(more, name, getattr(self, name) - getattr(before, name))
        return more


def by_answer(event: RequestFinished) -> TotalCost:
    return TotalCost(*figures(event), count=1, seat_seconds=event.seat_seconds)


def by_watch(state: WatcherState, seats: int) -> TotalCost:
    """Return the cost of a WATCH so far, with the figures that its `RequestFinished` will have.

    A WATCH is not gzipped, so the bytes sent are the bytes encoded.
    """
    spent = TotalCost(*figures(state), count=1, seat_seconds=seats * state.initial_ms / 1000.0)
    spent.returned, spent.encoded_bytes, spent.sent_bytes = state.delivered, state.bytes, state.bytes
    return spent
