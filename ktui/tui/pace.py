"""When an app ticks, and when it collects its garbage: keys come first."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.app import App

from ktui.tui.collector import EVERY, Collector
from ktui.tui.hands import Hands

TABLE_INTERVAL = 0.1  # seconds: tables at 10 Hz


class Pace:
    """Calls `tick`; only `fold` where the next frame is left to the next key."""

    def __init__(self, tick: Callable[[], None], fold: Callable[[], None]) -> None:
        self._tick = tick
        self._fold = fold
        self._hands = Hands()
        self._collector = Collector(self._hands)

    def keep(self, app: App[int]) -> None:
        """Tick from now on."""
        app.set_interval(TABLE_INTERVAL, self._tick_unless_busy)

    def collect(self, app: App[int]) -> None:
        """The first frame is there: from now on garbage is collected while nobody presses a key."""
        if self._collector.begin():
            app.set_interval(EVERY, self._collector.look)

    def saw(self, event: events.Event) -> None:
        """Each event of the app: keys and buttons are hands."""
        if isinstance(event, events.InputEvent) and not isinstance(event, events.MouseMove):
            self._hands.moved()

    def _tick_unless_busy(self) -> None:
        """What comes is folded in any case: piled up it would hold up the next tick."""
        if self._hands.busy():
            self._fold()
        else:
            self._tick()
