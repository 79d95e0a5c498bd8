"""How large resources are, as the dashboard knows it, and the seats that reads of them take."""

from __future__ import annotations

from ktui.core.state import State
from ktui.kube import seats
from ktui.kube.routing.predict import work_of
from ktui.kube.routing.request import ReadRequest
from ktui.kube.versions import Behaviour


def size_of(state: State, resource_id: str) -> tuple[int, int] | None:
    """Objects and bytes of a resource: from its cache, else from what was counted in etcd."""
    row = state.caches.get(resource_id)
    if row is not None and row.live:
        return row.cache.objects, row.cache.bytes
    for prefix in state.prefixes.values():
        if prefix.resource == resource_id:
            return prefix.count, prefix.bytes
    return None


def estimated_seats(
    request: ReadRequest, behaviour: Behaviour, state: State, resource_id: str, cap: int | None = None
) -> int | None:
    """Seats of a read by the number and size of the stored objects; None where those are not known."""
    return seats_for(request, behaviour, size_of(state, resource_id), progress=state.progress, cap=cap)


def seats_for(
    request: ReadRequest,
    behaviour: Behaviour,
    size: tuple[int, int] | None,
    *,
    progress: bool,
    cap: int | None = None,
) -> int | None:
    """Seats of a LIST or WATCH of so many objects and bytes; `cap` is the priority level's, None: unknown."""
    if size is None or request.refused:
        return None
    objects, stored = size
    average = stored // objects if objects else 0
    work = work_of(request, behaviour, progress=progress, objects=objects, average_bytes=average)
    if request.verb == "watch":
        asked = request.options.resource_version, request.options.send_initial_events
        return seats.watch_seats(behaviour, work, *asked, cap)
    return seats.list_seats(behaviour, work, cap)
