"""The text of the scrub bar: position, density of events, markers. Pure functions."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from textual.content import Content

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    EtcdCall,
    FanOut,
    Marker,
    ProgressTick,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)
from ktui.core.format import clock_time, elapsed, integer, milliseconds, short_count
from ktui.core.recordings.markers import TimelineMarker
from ktui.core.replay.player import FASTEST
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import between, line, longest_that_fits

_LEVELS = "▁▂▃▄▅▆▇█"
_QUIET = "·"
OWN, FOUND, HEAD = "◆", "▲", "┃"
_REMARK = 34  # cells for the last marker, which have precedence over the numbers


class Span(Struct, frozen=True):
    """The time that a recording covers (Unix seconds), drawn over cells."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return max(0.0, self.ended - self.began)

    def cell(self, at: float, width: int) -> int:
        """Return the cell, of `width`, that a time falls into."""
        if not self.seconds:
            return 0
        return min(width - 1, max(0, int((at - self.began) / self.seconds * width)))

    def time_of(self, cell: int, width: int) -> float:
        """Return the time at a cell; the first and the last are the recording's ends."""
        share = min(1.0, max(0.0, cell / max(1, width - 1)))
        return self.began + share * self.seconds


class Position(Struct, frozen=True):
    """The player's position in the recording."""

    at: float
    number: int  # events so far
    events: int  # in all
    playing: bool
    ended: bool
    speed: float
    event: str = ""  # the last event in words, while stepping


def density(seconds: Mapping[int, int], span: float, width: int) -> list[float]:
    """Return the events per second in each of `width` equal parts of `span` seconds."""
    if span <= width:  # a cell is a part of a second
        return [float(seconds.get(int(cell * span / width), 0)) for cell in range(width)]
    counts: Counter[int] = Counter()
    for second, count in seconds.items():
        counts[min(width - 1, int(second / span * width))] += count
    return [counts[cell] * width / span for cell in range(width)]


def track_line(span: Span, at: float, rates: Sequence[float], markers: Sequence[TimelineMarker]) -> Content:
    """Return the density in as many cells as `rates`, bright up to `at`, with the markers and the head."""
    width, peak = len(rates), max(rates, default=0.0)
    head = span.cell(at, width)
    marks = {span.cell(marker.at, width): marker for marker in sorted(markers, key=lambda item: item.own)}
    cells = []
    for cell, value in enumerate(rates):
        height = int(value / peak * len(_LEVELS)) if peak > 0 else 0
        glyph = _LEVELS[min(len(_LEVELS) - 1, height)] if value > 0 else _QUIET
        style = "$accent" if cell < head else "$ink-muted"
        if (marker := marks.get(cell)) is not None:
            glyph, style = _sign(marker)
            style = f"reverse {style}" if cell == head else style
        elif cell == head:
            glyph, style = HEAD, "bold $ink-strong"
        cells.append((glyph, style))
    return line(*cells)


def status_line(
    span: Span, position: Position, peak: float, markers: Sequence[TimelineMarker], warning: str, width: int
) -> Content:
    """Return state, clock and position; then the last marker passed, or the recording's warning."""
    remarks = _remarks(position, markers, warning)
    reserved = min(_REMARK, remarks[0].cell_length + 3, width - 1)
    forms = [line(_state(position), "  ", (clock_time(position.at), "bold $ink-strong"))]
    for text, style in (
        (f"{elapsed(position.at - span.began)} / {elapsed(span.seconds)}", "$foreground"),
        (f"event {integer(position.number)} of {integer(position.events)}", "$ink-muted"),
        (f"peak {short_count(peak)} events/s", "$ink-muted"),
    ):
        forms.append(forms[-1] + line("  ", (text, style)))
    left = longest_that_fits(forms[::-1], width - reserved)
    rest = width - left.cell_length - 3
    return between(left, longest_that_fits(remarks, rest) if rest > 0 else Content(""), width)


def _remarks(position: Position, markers: Sequence[TimelineMarker], warning: str) -> list[Content]:
    if position.event:
        return [line((position.event, "$foreground"))]
    if warning and position.ended:
        return [line((warning, "$warning"))]
    if passed := bisect_right(markers, position.at, key=lambda marker: marker.at):
        marker = markers[passed - 1]
        return [line(_sign(marker), f" {clock_time(marker.at)} {marker.text}")]
    steps = f"{key_of('pause')} pause  {key_of('replay.back')} {key_of('replay.forward')} 5 s"
    speed = f"{key_of('replay.slower')} {key_of('replay.faster')} speed"
    more = f"{key_of('replay.mark_forward')} next marker" if markers else speed
    return [line((f"{steps}  {more}", "$ink-muted")), Content("")]


def _sign(marker: TimelineMarker) -> tuple[str, str]:
    return (OWN, "bold $ink-strong") if marker.own else (FOUND, "bold $warning")


def event_text(event: AnyEvent) -> str:
    """Return one event in a few words: `request_finished 200 LIST …`."""
    kind = str(type(event).__struct_config__.tag)
    match event:
        case RequestStarted():
            return f"{kind} #{event.id} {event.verb} {event.path}"
        case RequestRouted():
            return f"{kind} #{event.id} {event.route} {event.reason_id}"
        case RequestFinished():
            return f"{kind} #{event.id} {event.status} {milliseconds(event.ms)} ms"
        case EtcdCall():
            return f"{kind} {event.op} {event.purpose}".rstrip()
        case CacheStatus() | ProgressTick() | FanOut() | WatcherOpened() | WatcherState() | WatcherClosed():
            return f"{kind} {event.resource}"
        case Marker():
            return f"{kind} {event.text}"
    return kind


def _state(position: Position) -> tuple[str, str]:
    if position.ended and not position.playing:
        return "■ end", "bold $warning"
    pace = "max" if position.speed == FASTEST else f"×{position.speed:g}"
    return (f"▶ {pace}", "bold $success") if position.playing else (f"‖ {pace}", "bold $warning")
