"""The interfaces of the parts that are plugged into the request chain, and what they exchange with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ktui.apiserver.http.request import Request
from ktui.apiserver.metrics.metric_types import Metric
from ktui.kube.flow_schemas import FlowSchema
from ktui.kube.rbac import PolicyRule
from ktui.kube.requestinfo import RequestAttributes, RequestInfo
from ktui.kube.users import Requester
from ktui.kube.versions import Behaviour

MOST_LOGGED_BYTES = 10 * 1024 * 1024  # upstream's --audit-log-truncate-max-batch-size


class Decision(NamedTuple):
    """An authorizer's decision. `reason` names the binding, or why the request is denied; "" without one."""

    allowed: bool
    reason: str = ""


class Authenticator(Protocol):
    """Authenticates requests. `has_token`: clients must send one; otherwise web pages are refused."""

    @property
    def has_token(self) -> bool: ...

    async def identify(self, request: Request) -> Requester:
        """Return the user who sends the request; raise StatusError 401."""


class Authorizer(Protocol):
    def decide(self, who: Requester, attributes: RequestAttributes) -> Decision: ...

    def rules(self, who: Requester, namespace: str) -> dict[str, Any]:
        """Return the status of a SelfSubjectRulesReview."""

    def confirm_grant(
        self,
        who: Requester,
        info: RequestInfo,
        new: dict[str, Any],
        old: dict[str, Any] | None,
        granted: Iterable[PolicyRule] | None = None,
    ) -> None:
        """Raise StatusError 403 if the role or binding `new` grants rights that `who` does not have.

        `granted` are the rules of a binding's role; without them StatusError 404 for an unknown role.
        """


@dataclass(slots=True)
class LoggedObjects:
    """The objects of a request and of its response, for a log that keeps them.

    `request` is a tree, `response` JSON text. `responds` is False for a log that keeps the request only.
    `truncated`: one exceeds MOST_LOGGED_BYTES, and is left out.
    """

    responds: bool
    request: Any = None
    response: bytes | None = None
    truncated: bool = False
    request_size: int = 0

    @property
    def size(self) -> int:
        return self.request_size + len(self.response or b"")

    def asked(self, tree: Any, size: int) -> None:
        if size > MOST_LOGGED_BYTES:
            self.truncated = True
        else:
            self.request, self.request_size = tree, size

    def answered(self, document: bytes) -> None:
        """Keep a complete response, given as JSON."""
        if self.responds:
            self.truncated = self.truncated or len(document) > MOST_LOGGED_BYTES
            self.response = document if len(document) <= MOST_LOGGED_BYTES else None

    def copied(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the chunks of a JSON response, and keep a copy."""
        kept: list[bytes] | None = []
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if kept is not None and size <= MOST_LOGGED_BYTES:
                kept.append(chunk)
            else:
                kept = None
            yield chunk
        self.truncated = self.truncated or kept is None
        self.response = b"".join(kept) if kept is not None else None


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
        control = self.control
        if control is not None:
            self.initialized()
            if self.watch is not None:
                control.left(self)
            self.control = None


class TicketControl(Protocol):
    """What a ticket with seats returns them to."""

    def finish(self, ticket: Ticket) -> None: ...

    def left(self, ticket: Ticket) -> None:
        """Record the end of a WATCH; called after `finish`."""


class FlowControl(Protocol):
    def classify(self, who: Requester, asked: RequestAttributes, minor: int) -> FlowSchema: ...

    async def enter(
        self,
        ticket: Ticket,
        patience: float,
        behaviour: Behaviour,
        gone: Callable[[], asyncio.Task[None]] | None = None,
    ) -> None:
        """Wait at most `patience` seconds for seats, or until `gone` ends; raise Rejected."""

    def metrics(self, behaviour: Behaviour) -> Iterable[Metric]: ...
