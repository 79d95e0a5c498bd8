"""The interface of flow control for the request chain; it is plugged in where a server is composed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ktui.kube.flowcontrol import FlowSchema, classify

if TYPE_CHECKING:
    import asyncio

    from ktui.apiserver.metrics.exposition import Metric
    from ktui.kube.requestinfo import RequestAttributes
    from ktui.kube.users import Requester
    from ktui.kube.versions import Behaviour

REFUSED = "Too many requests, please try again later.\n"


class Rejected(Exception):
    """429 of flow control. `reason` as in the metrics, `retry_after` in seconds."""

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """A classified request. `seats` by its verb and options; `patience`: seconds that it may wait.

    `name`: the only object that a WATCH selects. `gone` ends once the client has disconnected; None where
    that is not seen.
    """

    schema: FlowSchema
    who: Requester
    asked: RequestAttributes
    seats: int
    patience: float
    behaviour: Behaviour
    name: str = ""
    path: str = ""
    gone: Callable[[], asyncio.Task[None]] | None = None


class FlowTicket(Protocol):
    """The seats of one request, from its dispatch on. `waited` in seconds, once it has ended `executed`, too.

    `final_seats` are held for `additional_latency` seconds after the request, for the work of watchers.
    """

    waited: float
    executed: float

    @property
    def seats(self) -> int: ...

    @property
    def final_seats(self) -> int: ...

    @property
    def additional_latency(self) -> float: ...

    def initialized(self) -> None:
        """Give back the seats of a WATCH that has sent its initial events."""
        ...

    def leave(self) -> None:
        """Record that the request has ended."""
        ...


class FlowControl(Protocol):
    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema: ...

    async def enter(self, request: FlowRequest) -> FlowTicket:
        """Wait for the request's seats; raise Rejected."""
        ...

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]: ...


class FreeTicket:
    """The ticket of a request that is not limited."""

    __slots__ = ("additional_latency", "executed", "final_seats", "seats", "waited")

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.final_seats = 0
        self.additional_latency = self.waited = self.executed = 0.0

    def initialized(self) -> None:
        """There is nothing to give back."""

    def leave(self) -> None:
        """There is nothing to give back."""


class Unlimited:
    """Classifies requests by upstream's default schemas, and limits none."""

    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema:
        return classify(who, asked, minor)

    async def enter(self, request: FlowRequest) -> FlowTicket:
        return FreeTicket(request.seats)

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]:
        return ()
