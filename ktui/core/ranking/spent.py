"""What requests have cost, added up; of a WATCH that is still open, what it has cost so far."""

from __future__ import annotations

from msgspec import Struct

from ktui.contract.events import Processing, RequestFinished, WatcherState


class Spent(Processing, Struct):
    """What requests have cost together. Bytes; `seat_seconds` and `cpu_ms` as the server measured them."""

    count: int = 0
    etcd_bytes: int = 0
    cached_bytes: int = 0
    decoded_bytes: int = 0
    encoded_bytes: int = 0
    sent_bytes: int = 0
    fetched: int = 0
    returned: int = 0
    etcd_rpcs: int = 0
    seat_seconds: float = 0.0
    cpu_ms: float = 0.0

    def merge(self, other: Spent) -> None:
        for name in Spent.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def since(self, before: Spent) -> Spent:
        """What has come to it since it was `before`."""
        return Spent(*(getattr(self, name) - getattr(before, name) for name in Spent.__struct_fields__))


def by_answer(event: RequestFinished) -> Spent:
    """Of one request that is answered."""
    return Spent(
        count=1,
        etcd_bytes=event.etcd_bytes,
        cached_bytes=event.cached_bytes,
        decoded_bytes=event.decoded_bytes,
        encoded_bytes=event.encoded_bytes,
        sent_bytes=event.sent_bytes,
        fetched=event.fetched,
        returned=event.returned,
        etcd_rpcs=event.etcd_rpcs,
        seat_seconds=event.seat_seconds,
        cpu_ms=event.cpu_ms,
    )


def by_watch(state: WatcherState, seats: int) -> Spent:
    """Of one WATCH so far: the counters that its `RequestFinished` will tell. A stream is not gzipped."""
    return Spent(
        count=1,
        etcd_bytes=state.etcd_bytes,
        cached_bytes=state.cached_bytes,
        decoded_bytes=state.decoded_bytes,
        encoded_bytes=state.bytes,
        sent_bytes=state.bytes,
        fetched=state.fetched,
        returned=state.delivered,
        etcd_rpcs=state.etcd_rpcs,
        seat_seconds=seats * state.initial_ms / 1000.0,
        cpu_ms=state.cpu_ms,
    )
