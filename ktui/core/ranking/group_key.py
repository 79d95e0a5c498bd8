"""The key of a ranking's group: requests with the same key are one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ktui.contract.events import Cost, RequestFinished, WatcherState, figures

if TYPE_CHECKING:
    from ktui.core.ranking.shape import RequestShape


class GroupKey(NamedTuple):
    """`client`: as the log names it, the user agent's first word without its version."""

    client: str
    shape: RequestShape


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
