"""When an app ticks, and when it collects garbage: keys come first."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events
from textual.app import App

from ktui.supervision import PAUSES, Failure
from ktui.tui.idle_gc import EVERY, Collector
from ktui.tui.key_activity import KeyActivity

TABLE_INTERVAL = 0.1  # seconds: tables are painted at 10 Hz


class Pace:
    """Calls `tick` every TABLE_INTERVAL, or only `fold` while the next frame is left to the next key.

    After an exception in these it calls `failed`, and pauses for longer after each further one.
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
        self._keys = KeyActivity()
        self._collector = Collector(self._keys)

    def start_ticking(self, app: App[int]) -> None:
        """Tick from now on."""
        app.set_interval(TABLE_INTERVAL, self._tick_supervised)

    def start_collecting(self, app: App[int]) -> None:
        """Collect garbage while no key is pressed; called once the first frame is painted."""
        if self._collector.begin():
            app.set_interval(EVERY, self._collector.collect_if_due)

    def note_event(self, event: events.Event) -> None:
        """Record the time of a key or a mouse button; other events are ignored."""
        if isinstance(event, events.InputEvent) and not isinstance(event, events.MouseMove):
            self._keys.pressed()

    def _tick_supervised(self) -> None:
        if self._clock() < self._paused_until:
            return
        try:
            self._tick_unless_busy()
        except Exception as error:  # a bug in a screen: report it and go on painting
            self._failures += 1
            pause = PAUSES[min(self._failures, len(PAUSES)) - 1]
            self._paused_until = self._clock() + pause
            self._failed(Failure("painting", error, self._failures, pause))
        else:
            self._failures = 0

    def _tick_unless_busy(self) -> None:
        """Fold in any case: a backlog would delay the next tick."""
        if self._keys.defers_tick():
            self._fold()
        else:
            self._tick()
