"""The race track of revisions, drawn."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from textual.content import Content

from ktui.core.format import integer
from ktui.core.request_view import short_resource
from ktui.core.state import State
from ktui.tui.cache.lanes import Lane, Race, race_of
from ktui.tui.overview.cache_columns import behind, lag_style
from ktui.tui.widgets.lines import entitle, line, lines, longest_that_fits, pad
from ktui.tui.widgets.panel import Panel

_FILLED, _END, _GAP, _TICK, _WAIT = "━", "╸", "┄", "◇", "W"
_LONGEST_NAME = 24
# What the marks on a track mean, and their styles.
MARKS = (
    (_TICK, "progress notification", "$rv-tick"),
    (_WAIT, "readers wait", "bold $route-wait"),
)


class RacePanel(Panel):
    """How far etcd and each cache have come."""

    def __init__(self) -> None:
        super().__init__("rv progress", id="race", classes="box")

    def paint(self, state: State) -> None:
        race = race_of(state)
        entitle(self, subtitle=Content.styled(f"track = {integer(race.span)} rev", "$ink-muted"))
        self.show(lambda width, height: race_content(race, width, height), race)


def race_content(race: Race, width: int, height: int) -> Content:
    """As many lanes as there is height for; the etcd head is always the first."""
    if not race.head:
        return line(("no revision seen yet", "$ink-muted"))
    shown = race.shown(height)
    marks = marks_line(width) if height > len(race.lanes) else None
    number = max(len(_number(lane)) for lane in shown)
    name_width = min(_LONGEST_NAME, max(len(short_resource(lane.name)) for lane in shown))
    track = width - name_width - number - 2
    if track < 8:
        number, track = 0, width - name_width - 1
    drawn = [_lane(race, lane, name_width, track, number) for lane in shown]
    return lines([*drawn, marks] if marks is not None else drawn)


def marks_line(width: int) -> Content:
    """What the marks on a track mean, as much as fits."""
    tick, wait = ([(mark, style), (f" {about}", "$ink-muted")] for mark, about, style in MARKS)
    return longest_that_fits([line(*tick, ("  ", ""), *wait), line(*wait)], width)


def _lane(race: Race, lane: Lane, name_width: int, width: int, number: int) -> Content:
    parts = [(pad(short_resource(lane.name), name_width), "bold $rv-head" if lane.head else "$foreground")]
    parts.append((" ", ""))
    parts += _track(race, lane, width)
    if number:
        style = "$rv-head" if lane.head else lag_style(lane.lag, lane.waiting)
        parts.append((" " + _number(lane).rjust(number), style))
    return line(*parts)


def _number(lane: Lane) -> str:
    """Its revision when it is at the head, else how far it is behind."""
    return behind(lane.lag) if lane.lag else integer(lane.rv)


def _track(race: Race, lane: Lane, width: int) -> list[tuple[str, str]]:
    """The way run, the way left; on them the last progress notification and whoever waits."""
    filled = race.place(lane.rv, width)
    bar = _FILLED * (filled - 1) + _END if 0 < filled < width else _FILLED * filled
    run, left = "$rv-head" if lane.head else "$rv-cache", "$ink-faint"
    cells = [(char, run) for char in bar] + [(_GAP, left)] * (width - filled)
    ticked = race.place(lane.tick, width) - 1 if lane.tick and not lane.head else -1
    if ticked >= 0:  # else long before this track begins
        cells[ticked] = (_TICK, "$rv-tick")
    if lane.waiting:
        text = f"{_WAIT}{lane.waiting}" if lane.waiting > 1 else _WAIT
        first = max(0, min(filled, width - len(text)))
        cells[first : first + len(text)] = [(char, "bold $route-wait") for char in text]
    return [("".join(char for char, _ in group), style) for style, group in groupby(cells, itemgetter(1))]
