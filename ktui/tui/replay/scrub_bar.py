"""The time line of a recording, which can be clicked and dragged; only in a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import MouseDown, MouseMove, MouseUp

from ktui.tui.widgets.lines import line, lines
from ktui.tui.widgets.panel import Panel

if TYPE_CHECKING:
    from ktui.tui.replay.playback import Playback


class ScrubBar(Panel):
    """Two lines: the track with density and markers, and the status."""

    DEFAULT_CSS = """
    ScrubBar { height: 2; background: $surface; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._playback: Playback | None = None
        self._rates: tuple[int, list[float]] = (0, [])  # width, and density in that many cells
        self._dragging = False

    def show_playback(self, playback: Playback | None) -> None:
        """Show the position of `playback`; None while the recording is being read."""
        self._playback = playback
        if playback is None:
            self.show(lambda width, _: line(("reading the recording …", "$ink-muted")), "reading")
            return
        from ktui.tui.replay.bar import Span, density, status_line, track_line  # start-up time

        index, position, markers = playback.index, playback.position, playback.markers
        warning = playback.problem or index.warning
        span = Span(index.began, index.ended)

        def build(width: int, _: int) -> Content:
            if self._rates[0] != width:
                self._rates = (width, density(index.seconds, span.seconds, width))
            rates = self._rates[1]
            track = track_line(span, position.at, rates, markers)
            status = status_line(span, position, max(rates), markers, warning, width)
            return lines((track, status))

        self.show(build, (position, tuple(markers)))

    # The mouse.

    def on_mouse_down(self, event: MouseDown) -> None:
        self._dragging = True
        self.capture_mouse()
        self._seek(event.x)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragging:
            self._seek(event.x)

    def on_mouse_up(self, event: MouseUp) -> None:
        self._dragging = False
        self.release_mouse()

    def _seek(self, x: int) -> None:
        from ktui.tui.replay.bar import Span  # start-up time

        if self._playback is not None:
            index = self._playback.index
            self._playback.seek(Span(index.began, index.ended).time_of(x - 1, self.content_size.width))
