"""/debug/api_priority_and_fairness/dump_*: upstream's tables of levels, queues and requests.

Upstream: util/flowcontrol/apf_controller_debug.go. Cells end with a comma and are padded.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ktui.apiserver.call import shortened
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.router import Page
from ktui.kube.golang.times import format_duration
from ktui.kube.seats import flow_controlled
from ktui.kube.status import path_not_found
from ktui.printable import escaped

if TYPE_CHECKING:
    from ktui.apiserver.flow_control import Ticket
    from ktui.cacher.settings import Settings
    from ktui.flowcontrol.controller import PriorityAndFairness

ROOT = "/debug/api_priority_and_fairness"
TEXT = "text/plain; charset=utf-8"
TOTALS_SINCE, EXECUTING_SINCE = 27, 28
_NEVER = "0001-01-01T00:00:00Z"
_LEVELS = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
)  # fmt: skip
_TOTALS = ("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
_QUEUES = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
    "InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
_REQUESTS = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher",
    "ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
_DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")

Row = Sequence[object]


def pages(controller: PriorityAndFairness, settings: Settings, clock: Callable[[], float]) -> dict[str, Page]:
    """Return the three dumps by path; they answer 404 without priority and fairness."""

    def page(rows: Callable[[Request, int], Iterable[Row]]) -> Page:
        async def answer(request: Request, response: Response) -> None:
            behaviour = settings.behaviour
            if not flow_controlled(behaviour):
                raise path_not_found()
            controller.use(behaviour.minor)
            text = table([[str(cell) for cell in row] for row in rows(request, behaviour.minor)])
            await response.whole(200, TEXT, text.encode())

        return answer

    def requests(request: Request, minor: int) -> Iterator[Row]:
        offset = time.time() - clock()
        details = bool(request.parameter("includeRequestDetails"))
        return request_rows(controller, minor, offset, details=details)

    return {
        f"{ROOT}/dump_priority_levels": page(lambda _, minor: level_rows(controller, minor)),
        f"{ROOT}/dump_queues": page(lambda _, minor: queue_rows(controller)),
        f"{ROOT}/dump_requests": page(requests),
    }


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align rows as Go's tabwriter does."""
    widths = [max(8, 2 + max(len(cell) for cell in column)) for column in zip(*rows, strict=True)]
    return "".join(
        "".join(f"{cell},".ljust(width) for cell, width in zip(row[:-1], widths, strict=False))
        + row[-1]
        + "\n"
        for row in rows
    )


def level_rows(controller: PriorityAndFairness, minor: int) -> Iterator[Row]:
    totals = minor >= TOTALS_SINCE
    yield (*_LEVELS, *(_TOTALS if totals else ()))
    for name, level in sorted(controller.levels.by_name.items()):
        queues = level.queues
        active = sum(bool(queue.waiting) for queue in queues.queues)
        flags = (str(queues.idle).lower(), str(level.quiescing).lower())
        row = (name, active, *flags, queues.waiting, queues.executing)
        yield (*row, *((queues.dispatched, queues.rejected, 0, queues.cancelled) if totals else ()))


def queue_rows(controller: PriorityAndFairness) -> Iterator[Row]:
    yield _QUEUES
    for name, level in sorted(controller.levels.by_name.items()):
        for queue in level.queues.queues:
            waiting = queue.waiting
            yield (
                name, queue.index, len(waiting), len(queue.executing), queue.seats_in_use,
                _seat_seconds(queue.next_r), sum(request.seats for request in waiting),
                sum(request.width for request in waiting), _seat_seconds(queue.waiting_work),
            )  # fmt: skip


def request_rows(
    controller: PriorityAndFairness, minor: int, offset: float, *, details: bool
) -> Iterator[Row]:
    """Yield the rows of requests; `offset` is Unix time minus the clock of flow control, in seconds."""
    yield (*_REQUESTS, *(_DETAILS if details else ()))
    for name, level in sorted(controller.levels.by_name.items()):
        for index, place, request in level.queues.requests():
            if request.started and minor < EXECUTING_SINCE:
                continue
            yield (
                name, request.schema.name, index, place, _text(request.flow),
                _time(offset + request.arrived), request.seats, request.final_seats,
                format_duration(request.additional_latency),
                _time(offset + request.started) if request.started else _NEVER,
                *(_details(request) if details else ()),
            )  # fmt: skip


def _details(request: Ticket) -> Row:
    asked = request.asked
    version = f"{asked.group}/{asked.version}" if asked.group else asked.version
    path = asked.path or request.path
    texts = (request.who.user, asked.verb, path, asked.namespace, asked.name, version, asked.resource)
    return [_text(text) for text in (*texts, asked.subresource)]


def _text(text: str) -> str:
    """Return a client's text on one line."""
    return escaped(shortened(text))


def _seat_seconds(value: float) -> str:
    return f"{value:.8f}ss"


def _time(at: float) -> str:
    """Format a time in RFC 3339, with the fraction of a second if there is one."""
    whole = datetime.datetime.fromtimestamp(at, datetime.UTC)
    digits = f"{whole.microsecond:06d}".rstrip("0")
    return f"{whole:%Y-%m-%dT%H:%M:%S}{'.' + digits if digits else ''}Z"
