"""Reads that are asked and answered at once, for what counts them."""

from __future__ import annotations

from ktui.contract.events import (
    AnyEvent,
    RequestFinished,
    RequestStarted,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)

AT = 1_790_000_000.0


def asked(
    number: int,
    path: str = "/api/v1/pods",
    query: str = "",
    *,
    client: str = "agent",
    verb: str = "LIST",
    at: float = AT,
    **cost: object,
) -> list[AnyEvent]:
    """A request that is asked and answered at once."""
    begun = RequestStarted(
        at=at, id=number, verb=verb, path=path, query=query, resource="pods", namespace="", name="",
        client=client, user_agent=f"{client}/v1",
    )  # fmt: skip
    ended = RequestFinished(**{"at": at, "id": number, "status": 200, "route": "cache", "ms": 2.0} | cost)  # type: ignore[arg-type]
    return [begun, ended]


def watching(number: int, query: str = "watch=1&resourceVersion=0", *, at: float = AT) -> list[AnyEvent]:
    """A WATCH that has begun, and of which nothing is known yet."""
    begun = asked(number, query=query, verb="WATCH", at=at)[0]
    return [begun, WatcherOpened(id=number, at=at, resource="pods", since="0", client="agent", seats=2)]


def standing(number: int, *, at: float = AT, **numbers: object) -> WatcherState:
    """How it stands: 30 initial events of 3 kB, made of 9 kB, unless told otherwise."""
    initial = {
        "initial": 30,
        "initial_bytes": 3_000,
        "initial_ms": 12.0,
        "fetched": 40,
        "cached_bytes": 9_000,
    }
    sent = {"delivered": 30, "bytes": 3_000, "live": True}
    return WatcherState(**{"id": number, "at": at, "resource": "pods"} | initial | sent | numbers)  # type: ignore[arg-type]


def ended(number: int, *, at: float = AT, **cost: object) -> list[AnyEvent]:
    """The end of that WATCH: its stream's, then its request's."""
    account = {"fetched": 40, "cached_bytes": 9_000, "initial": 30, "initial_ms": 12.0, "seats": 2}
    (_, finished) = asked(number, verb="WATCH", at=at, **account | cost)
    return [WatcherClosed(id=number, at=at, resource="pods", delivered=0), finished]
