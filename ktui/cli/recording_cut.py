"""Cut a part out of a recording; it begins with the state at that time, so that it can be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ktui.contract.errors import RecordingError
from ktui.contract.events import Marker
from ktui.core.recordings.times import spot
from ktui.core.replay.marker_file import MarkerFile
from ktui.core.state_events import state_events

if TYPE_CHECKING:
    from ktui.contract.events import AnyEvent
    from ktui.core.replay.index import Index


def cut(index: Index, begin: str, end: str) -> Iterator[AnyEvent]:
    """Return the events between two times as users write them; "" is the recording's begin or end.

    Markers that were set in a replay are included. Raises RecordingError.
    """
    first = spot(begin, index.began, index.ended) if begin else index.began
    last = spot(end, index.began, index.ended) if end else index.ended
    if last < first:
        raise RecordingError(f"--to {end} lies before --from {begin or '0'}")
    return _between(index, first, last, whole=not begin)


def _between(index: Index, first: float, last: float, *, whole: bool) -> Iterator[AnyEvent]:
    number = 0
    if not whole:
        place = index.place_at(first)
        number = place.number
        yield from state_events(place.state, first)
    marks = [mark for mark in MarkerFile(index.reader.path).markers if first <= mark.at <= last]
    marks.sort(key=lambda mark: mark.at, reverse=True)
    for step in index.steps(number):
        if step.at > last:
            break
        while marks and marks[-1].at <= step.at:
            mark = marks.pop()
            yield Marker(at=mark.at, text=mark.text)
        yield step.event
    for mark in reversed(marks):
        yield Marker(at=mark.at, text=mark.text)
