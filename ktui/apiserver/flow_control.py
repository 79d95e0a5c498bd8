"""The interface of flow control for the request chain; it is plugged in where a server is composed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ktui.kube.flow_schemas import FlowSchema, classify

if TYPE_CHECKING:
    import asyncio

    from ktui.apiserver.metrics.metric_types import Metric
    from ktui.kube.requestinfo import RequestAttributes
    from ktui.kube.users import Requester
    from ktui.kube.versions import Behaviour

EXPECTED_SECONDS = 0.003  # that a request is expected to execute
REFUSED = "Too many requests, please try again later.\n"


class Rejected(Exception):
    """429 of flow control. `reason` as in the metrics, `retry_after` in seconds."""

    def __init__(self, reason: str, retry_after: int = 1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after


class Ticket:
    """A request in flow control, from its classification until its seats are free again.

    `seats` by its verb and options, 0 without flow control. `name`: the only object that a WATCH selects.
    `final_seats` are held for `additional_latency` seconds after the request, for the work of watchers;
    `width`, the larger number of both, from its dispatch until then. `work` is the expected work in
    seat-seconds.

    `arrived` and `started` are on flow control's clock, `started` is 0 while it waits. `waited` and, once it
    has ended, `executed` are in seconds. `queue` and `dispatched` are of FairQueues: `dispatched` is set once
    the request waits in a queue, its result says whether it got its seats.
    """

    flow = ""
    final_seats = 0
    additional_latency = waited = executed = 0.0
    arrived = started = arrived_r = 0.0
    queue: Any = None
    dispatched: asyncio.Future[bool] | None = None
    level: Any = None
    watch: tuple[str, ...] | None = None
    control: TicketControl | None = None
    holds = False

    def __init__(
        self,
        schema: FlowSchema,
        who: Requester,
        asked: RequestAttributes,
        seats: int,
        *,
        name: str = "",
        path: str = "",
    ) -> None:
        self.schema = schema
        self.who = who
        self.asked = asked
        self.seats = self.width = seats
        self.name = name
        self.path = path
        self.work = seats * EXPECTED_SECONDS

    def estimate(self, seats: int, final_seats: int, additional_latency: float) -> None:
        """Set the work estimate of a write, whose events its watchers get."""
        self.seats, self.final_seats, self.additional_latency = seats, final_seats, additional_latency
        self.width = max(seats, final_seats)
        self.work = seats * EXPECTED_SECONDS + final_seats * additional_latency

    def admitted(self, control: TicketControl) -> None:
        """Record that the request executes, with seats of `control`."""
        self.control, self.holds = control, True

    def initialized(self) -> None:
        """Give back the seats of a WATCH that has sent its initial events."""
        if self.holds and self.control is not None:
            self.holds = False
            self.control.finish(self)

    def leave(self) -> None:
        """Record that the request has ended."""
        control = self.control
        if control is not None:
            self.initialized()
            if self.watch is not None:
                control.left(self)
            self.control = None


class TicketControl(Protocol):
    """What a ticket with seats returns them to."""

    def finish(self, ticket: Ticket) -> None:
        """Free the seats."""
        ...

    def left(self, ticket: Ticket) -> None:
        """Record the end of a WATCH; called after `finish`."""
        ...


class FlowControl(Protocol):
    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema: ...

    async def enter(
        self,
        ticket: Ticket,
        patience: float,
        behaviour: Behaviour,
        gone: Callable[[], asyncio.Task[None]] | None = None,
    ) -> None:
        """Wait for the ticket's seats, at most `patience` seconds; raise Rejected.

        `gone` ends once the client has disconnected; None where that is not seen.
        """
        ...

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]: ...


class Unlimited:
    """Classifies requests by upstream's default schemas, and limits none."""

    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema:
        return classify(who, asked, minor)

    async def enter(
        self,
        ticket: Ticket,
        patience: float,
        behaviour: Behaviour,
        gone: Callable[[], asyncio.Task[None]] | None = None,
    ) -> None:
        """Do nothing: there are seats for all."""

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]:
        return ()
