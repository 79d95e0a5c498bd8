"""Flow control without priority levels: limits of reads and of writes in flight; other requests are rejected.

Upstream: server/filters/maxinflight.go, in force in 1.19 and with --enable-priority-and-fairness=false.
"""

from __future__ import annotations

from ktui.apiserver.flow_control import FlowRequest, Rejected
from ktui.kube.users import MASTERS

READS = frozenset(("get", "list", "watch"))


class InFlightTicket:
    """A place among the requests in flight."""

    __slots__ = ("_limits", "_mutating", "additional_latency", "executed", "final_seats", "seats", "waited")

    def __init__(self, limits: MaxInFlight, *, mutating: bool) -> None:
        self._limits: MaxInFlight | None = limits
        self._mutating = mutating
        self.seats = self.final_seats = 0
        self.additional_latency = self.waited = self.executed = 0.0

    def initialized(self) -> None:
        """Do nothing: a WATCH is not counted."""

    def leave(self) -> None:
        if self._limits is not None:
            self._limits.left(mutating=self._mutating)
            self._limits = None


class MaxInFlight:
    """Limits of requests in flight, 0 for no limit.

    WATCHes are not counted; requests of system:masters are counted, but never rejected.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {False: reads, True: writes}
        self.in_flight = {False: 0, True: 0}  # False: reads, True: writes

    def enter(self, request: FlowRequest) -> InFlightTicket:
        """Count a request; raise Rejected beyond the limit."""
        verb = request.asked.verb
        mutating = verb not in READS
        limit = self._limits[mutating]
        ticket = InFlightTicket(self, mutating=mutating)
        if verb == "watch":
            ticket._limits = None
            return ticket
        if limit and self.in_flight[mutating] >= limit and MASTERS not in request.who.groups:
            raise Rejected("max-in-flight")
        self.in_flight[mutating] += 1
        return ticket

    def left(self, *, mutating: bool) -> None:
        self.in_flight[mutating] -= 1
