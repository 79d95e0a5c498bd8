"""Flow-control seats of a request: kube-apiserver's work estimate, made before any other check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.apiserver.server import Server
from ktui.kube.flow_schemas import PriorityLevel, displayed_level
from ktui.kube.listoptions import ListOptions, parse_list_options
from ktui.kube.routing.parameters import NAME
from ktui.kube.seats import list_seats, max_seats, watch_seats, work_of
from ktui.kube.selectors import FieldSelector
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.kube.requestinfo import RequestInfo
    from ktui.kube.resources import Resource


def seats_of(server: Server, info: RequestInfo, verb: str, query: str, level: PriorityLevel) -> int:
    """Return the seats of a LIST or WATCH by the current size of its resource.

    0 without flow control. Options that cannot be decoded count as the worst case.
    """
    settings = server.services.settings
    behaviour = settings.behaviour
    if not behaviour.enabled("APIPriorityAndFairness"):
        return 0
    resource = server.catalog.table.find(info.group, info.version, info.resource)
    if resource is None or not resource.stored:
        return 1
    cap = displayed_level(level).max_seats
    try:
        options = parse_list_options(query)
    except StatusError:
        return max_seats(behaviour, cap)
    objects, average_bytes = server.cacher(resource).size()
    work = work_of(
        behaviour,
        options,
        single=_selects_a_name(options, resource),
        progress=settings.progress,
        objects=objects,
        average_bytes=average_bytes,
    )
    if verb == "LIST":
        return list_seats(behaviour, work, cap)
    return watch_seats(behaviour, work, options.resource_version, options.send_initial_events, cap)


def _selects_a_name(options: ListOptions, resource: Resource) -> bool:
    if NAME not in options.field_selector:
        return False
    try:
        return FieldSelector.parse(options.field_selector, resource).requires(NAME) is not None
    except StatusError:
        return False
