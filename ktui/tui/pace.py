"""When an app ticks, and when it collects its garbage: keys come first."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events
from textual.app import App

from ktui.supervision import PAUSES, Failure
from ktui.tui.idle_gc import EVERY, Collector
from ktui.tui.key_activity import Hands

TABLE_INTERVAL = 0.1  # seconds: tables at 10 Hz


class Pace:
    """Calls `tick`; only `fold` where the next frame is left to the next key.

    An error in them is passed to `failed`, and after a growing pause they are called again.
    """

    def __init__(
        self,
        tick: Callable[[], None],
        fold: Callable[[], None],
        failed: Callable[[Failure], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tick = tick
        self._fold = fold
        self._failed = failed
        self._clock = clock
        self._failures = 0
        self._paused_until = 0.0
        self._hands = Hands()
        self._collector = Collector(self._hands)

    def keep(self, app: App[int]) -> None:
        """Tick from now on."""
        app.set_interval(TABLE_INTERVAL, self._tick_supervised)

    def collect(self, app: App[int]) -> None:
        """The first frame is there: from now on garbage is collected while no key is pressed."""
        if self._collector.begin():
            app.set_interval(EVERY, self._collector.look)

    def saw(self, event: events.Event) -> None:
        """Each event of the app: keys and buttons are hands."""
        if isinstance(event, events.InputEvent) and not isinstance(event, events.MouseMove):
            self._hands.moved()

    def _tick_supervised(self) -> None:
        if self._clock() < self._paused_until:
            return
        try:
            self._tick_unless_busy()
        except Exception as error:  # a bug in a screen: it is reported, and painting goes on
            self._failures += 1
            pause = PAUSES[min(self._failures, len(PAUSES)) - 1]
            self._paused_until = self._clock() + pause
            self._failed(Failure("painting", error, self._failures, pause))
        else:
            self._failures = 0

    def _tick_unless_busy(self) -> None:
        """What comes is folded in any case: piled up it would hold up the next tick."""
        if self._hands.busy():
            self._fold()
        else:
            self._tick()
