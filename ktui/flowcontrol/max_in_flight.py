"""Flow control without priority levels: limits of reads and of writes in flight; other requests are rejected.

Upstream: server/filters/maxinflight.go, in force in 1.19 and with --enable-priority-and-fairness=false.
"""

from __future__ import annotations

from ktui.apiserver.flow_control import Rejected, Ticket
from ktui.kube.users import MASTERS

READS = frozenset(("get", "list", "watch"))


class MaxInFlight:
    """Limits of requests in flight, 0 for no limit.

    WATCHes are not counted; requests of system:masters are counted, but never rejected.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._limits = {False: reads, True: writes}
        self.in_flight = {False: 0, True: 0}  # False: reads, True: writes

    def enter(self, ticket: Ticket) -> None:
        """Count a request; raise Rejected beyond the limit."""
        ticket.seats = ticket.width = 0
        if ticket.asked.verb == "watch":
            return
        mutating = ticket.asked.verb not in READS
        limit = self._limits[mutating]
        if limit and self.in_flight[mutating] >= limit and MASTERS not in ticket.who.groups:
            raise Rejected("max-in-flight")
        self.in_flight[mutating] += 1
        ticket.admitted(self)

    def finish(self, ticket: Ticket) -> None:
        self.in_flight[ticket.asked.verb not in READS] -= 1

    def left(self, ticket: Ticket) -> None:
        """Do nothing: `finish` has counted it."""
