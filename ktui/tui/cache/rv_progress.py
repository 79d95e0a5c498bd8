"""RV progress: etcd's head and the watch caches behind it, as bars."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import itemgetter

from msgspec import Struct
from textual.content import Content

from ktui.core.format import integer, short_count
from ktui.core.request_view import short_resource
from ktui.core.state import CacheRow, State
from ktui.tui.charts.plot import round_top
from ktui.tui.widgets.lines import entitle, line, lines, longest_that_fits, pad
from ktui.tui.widgets.panel import Panel

LEAST_SPAN = 50  # revisions across a track
NOTED_LAG = 10  # revisions behind from which the number is highlighted; less lasts milliseconds


class Lane(Struct, frozen=True):
    """One bar: `rv` is its revision, `tick` that of its last progress notification (0: none)."""

    name: str
    rv: int
    lag: int
    tick: int = 0
    waiting: int = 0
    head: bool = False


class RevisionProgress(Struct, frozen=True):
    """Lanes on one scale: their right end is revision `head`, their left end `span` revisions earlier."""

    lanes: tuple[Lane, ...]
    head: int
    span: int

    def shown(self, height: int) -> tuple[Lane, ...]:
        """Return the lanes that fit: etcd's, those with waiting readers, then the largest; in their order."""
        if len(self.lanes) <= height:
            return self.lanes
        by_need = sorted(self.lanes, key=lambda lane: not (lane.head or lane.waiting))
        kept = by_need[:height]
        return tuple(lane for lane in self.lanes if lane in kept)

    def place(self, rv: int, width: int) -> int:
        """Return how many of `width` cells are filled at revision `rv`."""
        behind = min(self.span, max(0, self.head - rv))
        return width - round(behind * width / self.span)


def progress_of(state: State) -> RevisionProgress:
    """Return the lanes of all ready caches, largest first, so that they keep their places."""
    head = state.revision
    runners = sorted((row for row in state.caches.values() if row.live), key=by_size)
    lanes = [Lane(row.resource, row.rv, row.lag(head), row.ticked, row.cache.waiting) for row in runners]
    longest = max((lane.lag for lane in lanes), default=0)
    return RevisionProgress((Lane("etcd", head, 0, head=True), *lanes), head, nice_span(longest))


def by_size(row: CacheRow) -> tuple[int, str]:
    """Return the sort key of caches: most objects first, then by name."""
    return (-row.cache.objects, row.resource)


def nice_span(lag: int) -> int:
    """Return a span that holds `lag` and seldom changes: 50, 100, 200, 500, 1,000 … revisions."""
    return max(LEAST_SPAN, int(round_top(lag * 1.25, 10.0)))


_FILLED, _END, _GAP, _TICK, _WAIT = "━", "╸", "┄", "◇", "W"
_LONGEST_NAME = 24
# The marks on a track, their meaning and styles.
MARKS = ((_TICK, "progress notification", "$rv-tick"), (_WAIT, "waiting", "bold $route-wait"))


class RvProgressPanel(Panel):
    def __init__(self) -> None:
        super().__init__("RV progress", id="race", classes="box")

    def paint(self, state: State) -> None:
        progress = progress_of(state)
        entitle(self, subtitle=Content.styled(f"track = {integer(progress.span)} rev", "$ink-muted"))
        self.show(partial(progress_content, progress), progress)


def progress_content(progress: RevisionProgress, width: int, height: int) -> Content:
    """Return as many lanes as fit, etcd's first."""
    if not progress.head:
        return line(("no revision seen yet", "$ink-muted"))
    shown = progress.shown(height)
    number = max(len(_number(lane)) for lane in shown)
    name_width = min(_LONGEST_NAME, max(len(short_resource(lane.name)) for lane in shown))
    track = width - name_width - number - 2
    if track < 8:
        number, track = 0, width - name_width - 1
    drawn = [_lane(progress, lane, name_width, track, number) for lane in shown]
    if height > len(progress.lanes):  # the meaning of the marks, as much as fits
        tick, wait = ([(mark, style), (f" {about}", "$ink-muted")] for mark, about, style in MARKS)
        drawn.append(longest_that_fits([line(*tick, ("  ", ""), *wait), line(*wait)], width))
    return lines(drawn)


def _lane(progress: RevisionProgress, lane: Lane, name_width: int, width: int, number: int) -> Content:
    name = (pad(short_resource(lane.name), name_width), "bold $rv-head" if lane.head else "$foreground")
    parts = [name, (" ", ""), *_track(progress, lane, width)]
    if number:
        style = "$rv-head" if lane.head else lag_style(lane.lag, lane.waiting)
        parts.append((" " + _number(lane).rjust(number), style))
    return line(*parts)


def _number(lane: Lane) -> str:
    """Return a lane's revision if it is at the head, else how far it is behind."""
    return behind(lane.lag) if lane.lag else integer(lane.rv)


def _track(progress: RevisionProgress, lane: Lane, width: int) -> list[tuple[str, str]]:
    """Return a track, filled up to the revision, with progress notification and waiting readers."""
    filled = progress.place(lane.rv, width)
    bar = _FILLED * (filled - 1) + _END if 0 < filled < width else _FILLED * filled
    run, left = "$rv-head" if lane.head else "$rv-cache", "$ink-faint"
    cells = [(char, run) for char in bar] + [(_GAP, left)] * (width - filled)
    ticked = progress.place(lane.tick, width) - 1 if lane.tick and not lane.head else -1
    if ticked >= 0:  # else before the track's left end
        cells[ticked] = (_TICK, "$rv-tick")
    if lane.waiting:
        text = f"{_WAIT}{lane.waiting}" if lane.waiting > 1 else _WAIT
        first = max(0, min(filled, width - len(text)))
        cells[first : first + len(text)] = [(char, "bold $route-wait") for char in text]
    return [("".join(char for char, _ in group), style) for style, group in groupby(cells, itemgetter(1))]


def behind(lag: int) -> str:
    """Return `−23`, `−1.7k` or `0`, in at most six cells."""
    if not lag:
        return "0"
    return f"−{lag}" if lag < 1000 else f"−{short_count(lag)}"


def lag_style(lag: int, waiting: int) -> str:
    """Return the style of a lag. A quiet cache is behind until a reader needs it, which is no problem."""
    if waiting:
        return "$rv-lag bold"
    return "$foreground" if lag >= NOTED_LAG else "$ink-muted"
