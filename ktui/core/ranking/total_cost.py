"""What requests have cost, added up; of a WATCH that is still open, what it has cost so far."""

from __future__ import annotations

from ktui.contract.events import Cost, RequestFinished, WatcherState, figures


class TotalCost(Cost, kw_only=True):
    """What `count` requests have cost together."""

    count: int = 0
    seat_seconds: float = 0.0

    def merge(self, other: TotalCost) -> None:
        for name in TotalCost.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def since(self, before: TotalCost) -> TotalCost:
        """What was added after it was `before`."""
        more = TotalCost()
        for name in TotalCost.__struct_fields__:
            setattr(more, name, getattr(self, name) - getattr(before, name))
        return more


def by_answer(event: RequestFinished) -> TotalCost:
    """Of one request that is answered."""
    return TotalCost(*figures(event), count=1, seat_seconds=event.seat_seconds)


def by_watch(state: WatcherState, seats: int) -> TotalCost:
    """Of one WATCH so far: the figures that its `RequestFinished` will carry. A stream is not gzipped."""
    spent = TotalCost(*figures(state), count=1, seat_seconds=seats * state.initial_ms / 1000.0)
    spent.returned, spent.encoded_bytes, spent.sent_bytes = state.delivered, state.bytes, state.bytes
    return spent
