"""A clock that tests turn, and what is called later."""

from __future__ import annotations

from collections.abc import Callable

from ktui.apiserver.chain import Ticket
from ktui.flowcontrol.fair_queues import FairQueues
from ktui.kube.flow_rules import QueuingSpec, schema_spec
from ktui.kube.flow_schemas import FlowSchema, PriorityLevel
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester

LIST = RequestAttributes("list", "", "pods")


class Ticking:
    """`now()` in seconds; `pass_time` calls what is due."""

    def __init__(self) -> None:
        self.at = 100.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []

    def now(self) -> float:
        return self.at

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        self._due.append((self.at + seconds, len(self._due), call))

    def pass_time(self, seconds: float) -> None:
        until = self.at + seconds
        while due := sorted(item for item in self._due if item[0] <= until):
            self._due.remove(due[0])
            self.at = due[0][0]
            due[0][2]()
        self.at = until


def level_of(clock: Ticking, limit: int, queuing: QueuingSpec | None, *, exempt: bool = False) -> FairQueues:
    queues = FairQueues(clock.now, clock.later, exempt=exempt)
    queues.configure(queuing, limit)
    return queues


def request(user: str = "jane", seats: int = 1, final_seats: int = 0, latency: float = 0.0) -> Ticket:
    schema = FlowSchema("all", PriorityLevel("l", 1), schema_spec({}))
    made = Ticket(schema, Requester(user), LIST, seats)
    made.estimate(seats, final_seats, latency)
    made.flow = user
    return made
