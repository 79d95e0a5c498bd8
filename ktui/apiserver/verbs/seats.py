"""Flow-control seats of a request: only told, nothing is queued here.

Nobody queues at the level `exempt`, so seats mean nothing there: they are told as
for an ordinary user, whose level is `global-default`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.selecting import selection_of
from ktui.kube.flowcontrol import LEVELS
from ktui.kube.listoptions import ListOptions, parse_list_options
from ktui.kube.seats import ListWork, flow_controlled, list_from_cache, list_seats, max_seats, watch_seats
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.selection import Selection

if TYPE_CHECKING:
    from ktui.cacher.cacher import Cacher


def seats_of_list(
    server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: Selection
) -> int:
    """Seats of a LIST by the present size of its resource."""
    return list_seats(call.behaviour, _work(server, call, cacher, options, selection), _cap(call))


def seats_of_watch(
    server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: Selection
) -> int:
    """Seats of a WATCH, by its options as the client sent them."""
    work = _work(server, call, cacher, options, selection)
    asked = options.resource_version, options.send_initial_events
    return watch_seats(call.behaviour, work, *asked, _cap(call))


def seats_of_any(server: Server, call: Call) -> int:
    """Seats of a request whose handler told none: they are counted before anything is checked.

    Options that cannot be decoded are taken for the worst.
    """
    if not flow_controlled(call.behaviour):
        return 0
    resource = call.resource
    if resource is None or call.verb not in ("LIST", "WATCH"):
        return 1
    try:
        options = parse_list_options(call.request.query)
    except StatusError:
        return max_seats(call.behaviour, _cap(call))
    try:
        selection = selection_of(options, resource, call.info)
    except StatusError:
        selection = Selection(LabelSelector(), FieldSelector(), None, None)
    count = seats_of_list if call.verb == "LIST" else seats_of_watch
    return count(server, call, server.cacher(resource), options, selection)


def _cap(call: Call) -> int | None:
    level = LEVELS["global-default"] if call.level.name == "exempt" else call.level
    return level.max_seats


def _work(server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: Selection) -> ListWork:
    objects, average_bytes = cacher.size()
    return ListWork(
        objects=objects,
        average_bytes=average_bytes,
        limit=options.limit,
        from_cache=list_from_cache(
            call.behaviour,
            options.resource_version,
            options.resource_version_match,
            options.limit,
            continued=bool(options.continue_),
            progress=server.services.settings.progress,
        ),
        selectors=bool(options.label_selector or options.field_selector),
        single=selection.fields.requires("metadata.name") is not None,
    )
