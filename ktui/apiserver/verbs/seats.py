"""Flow-control seats of a request: estimated and reported; nothing is queued here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.selecting import selection_of
from ktui.kube.flowcontrol import displayed_level
from ktui.kube.listoptions import ListOptions, parse_list_options
from ktui.kube.routing.scope import NAME
from ktui.kube.seats import ListWork, flow_controlled, list_seats, max_seats, watch_seats, work_of
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.selection import SelectionPredicate

if TYPE_CHECKING:
    from ktui.cacher.cacher import Cacher


def seats_of_list(
    server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: SelectionPredicate
) -> int:
    """Seats of a LIST by the current size of its resource."""
    return list_seats(call.behaviour, _work(server, call, cacher, options, selection), _cap(call))


def seats_of_watch(
    server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: SelectionPredicate
) -> int:
    """Seats of a WATCH, by its options as the client sent them."""
    work = _work(server, call, cacher, options, selection)
    asked = options.resource_version, options.send_initial_events
    return watch_seats(call.behaviour, work, *asked, _cap(call))


def seats_of_any(server: Server, call: Call) -> int:
    """Seats of a request whose handler reported none: they are counted before anything is checked.

    Options that cannot be decoded count as the worst case.
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
        labels = LabelSelector.parse(options.label_selector)
        fields = FieldSelector.parse(options.field_selector, resource)
        selection = selection_of(labels, fields, call.info)
    except StatusError:
        selection = SelectionPredicate(LabelSelector(), FieldSelector(), None, None)
    count = seats_of_list if call.verb == "LIST" else seats_of_watch
    return count(server, call, server.cacher(resource), options, selection)


def _cap(call: Call) -> int | None:
    return displayed_level(call.level).max_seats


def _work(
    server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: SelectionPredicate
) -> ListWork:
    objects, average_bytes = cacher.size()
    return work_of(
        call.behaviour,
        options,
        single=selection.fields.requires(NAME) is not None,
        progress=server.services.settings.progress,
        objects=objects,
        average_bytes=average_bytes,
    )
