"""Flow-control seats of a request: only told, nothing is queued here.

Nobody queues at the level `exempt`, so seats mean nothing there: they are told as
for an ordinary user, whose level is `global-default`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.flowcontrol import LEVELS
from ktui.kube.listoptions import ListOptions
from ktui.kube.seats import ListWork, list_from_cache, list_seats, watch_seats

if TYPE_CHECKING:
    from ktui.cacher.cacher import Cacher
    from ktui.storage.selection import Selection


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


def _cap(call: Call) -> int | None:
    level = LEVELS["global-default"] if call.level.name == "exempt" else call.level
    return level.max_seats


def _work(server: Server, call: Call, cacher: Cacher, options: ListOptions, selection: Selection) -> ListWork:
    state = cacher.state()
    counted = state if state is not None and state.state in ("ready", "reinitializing") else None
    return ListWork(
        objects=counted.objects if counted else None,
        average_bytes=counted.bytes // counted.objects if counted and counted.objects else 0,
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
