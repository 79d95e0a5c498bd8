"""The race track of revisions, drawn."""

from __future__ import annotations

from textual.content import Content

from ktui.tui.model.format import integer
from ktui.tui.model.lanes import Lane, Race
from ktui.tui.model.request_view import short_resource
from ktui.tui.widgets.cache_columns import behind, lag_style
from ktui.tui.widgets.lines import line, lines, pad

_FILLED, _END, _TICK, _WAIT = "━", "╸", "◇", "W"
_LONGEST_NAME = 24


def race_content(race: Race, width: int, height: int) -> Content:
    """As many lanes as there is height for; the etcd head is always the first."""
    if not race.head:
        return line(("no revision seen yet", "$ink-muted"))
    shown = race.shown(height)
    number = max(len(_number(lane)) for lane in shown)
    name_width = min(_LONGEST_NAME, max(len(short_resource(lane.name)) for lane in shown))
    track = width - name_width - number - 2
    if track < 8:
        number, track = 0, width - name_width - 1
    return lines(_lane(race, lane, name_width, track, number) for lane in shown)


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
    filled = race.place(lane.rv, width)
    style = "$rv-head" if lane.head else "$rv-cache"
    bar = _FILLED * filled
    if 0 < filled < width:
        bar = bar[:-1] + _END
    gap = list("┄" * (width - filled))
    if lane.waiting and gap:
        gap[0] = _WAIT
    parts = [(bar, style)]
    if lane.tick and not lane.head:
        place = min(race.place(lane.tick, width), width) - 1
        if 0 <= place < len(bar):
            parts = [(bar[:place], style), (_TICK, "$rv-tick"), (bar[place + 1 :], style)]
    return [*parts, *((char, "bold $route-wait" if char == _WAIT else "$ink-faint") for char in gap)]
