"""The app as screens and commands see it: state, server, looks, navigation.

This module imports no screen, so that every screen can import it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import select
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import App
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.widget import Widget
from textual.worker import Worker

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent
from ktui.core.format import safe
from ktui.core.references import Place, RequestRef, Selection
from ktui.core.state import State
from ktui.supervision import PAUSES, Failure, describe
from ktui.tui.compat import WholeScreen
from ktui.tui.intake import ActiveRecording, Intake
from ktui.tui.keys.hints import usable, written
from ktui.tui.looks.looks import WATCH_INTERVAL
from ktui.tui.looks.themed import ThemedApp
from ktui.tui.memory import RecentNames, TableMemory
from ktui.tui.preferences import DEFAULTS, Preferences
from ktui.tui.source import Link, TelemetrySource

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.core.recordings.recorder import Recorder
    from ktui.traces.receiver import OtlpReceiver


CLOSE = 0.12  # seconds between the keys of a user who is typing or holds an arrow key
WATCHING = 5.0  # seconds without a key after which every other tick only folds
MOST = 3  # ticks in a row that are deferred


class KeyActivity:
    """When a key was last pressed, and how many ticks were deferred to paint its effect first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pressed_at = clock()
        self._deferred = MOST  # none before the first key
        self._ticks = 0

    def pressed(self) -> None:
        if self.idle_seconds >= CLOSE:
            self._deferred = 0
        self._pressed_at = self._clock()

    @property
    def idle_seconds(self) -> float:
        return self._clock() - self._pressed_at

    def defers_tick(self) -> bool:
        """Return True if this tick should leave the next frame to the next key, or to the next tick.

        While keys follow one another, every fourth tick runs in any case; when no key was pressed for a
        while, every second one.
        """
        self._ticks += 1
        if self.idle_seconds >= WATCHING:
            return self._ticks % 2 == 0
        if self.idle_seconds >= CLOSE or self._deferred >= MOST:
            self._deferred = 0
            return False
        self._deferred += 1
        return True


def leave_on_signals(app: App[int], leave: Callable[[], Awaitable[None]]) -> None:
    """Make SIGTERM call `leave`, which quits like `q`, and SIGHUP end the process.

    After SIGHUP, Textual would block on the terminal, which is gone. Does nothing unless the app runs in the
    main thread of a terminal's process.
    """
    if app.is_headless or threading.current_thread() is not threading.main_thread():
        return
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: app.call_later(leave))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    threading.Thread(target=_hang_up_with_terminal, name="terminal", daemon=True).start()


def _hang_up_with_terminal() -> None:
    """Send this process SIGHUP once its terminal is gone; the kernel does so for a controlling terminal only.

    Without it, Textual would read the end of the input again and again.
    """
    terminal = select.poll()
    terminal.register(0, 0)  # standard input, for nothing but a hangup
    if any(event & select.POLLHUP for _, event in terminal.poll()):
        log.error("the terminal is gone")
        os.kill(os.getpid(), signal.SIGHUP)


EVERY = 1.0  # seconds between two checks
DUE = 15.0  # seconds between two full collections
OVERDUE = 45.0  # seconds after which one runs even while keys are pressed
QUIET = 0.5  # seconds without a key
SHORT_TURNS = (1_000, 5)  # thresholds of the young generations (Python's: 700, 10)
NEVER = 1_000_000_000


class Collector:
    """Collects all garbage while no key is pressed.

    Painted lines refer to each other, so only Python's collector frees them. Its young generations take
    1–2 ms, a full collection 20–30 ms, which would delay the frame after a key. Acts only if the process has
    switched Python's collector off, which it must decide as a whole.
    """

    def __init__(
        self,
        keys: KeyActivity,
        clock: Callable[[], float] = time.monotonic,
        collect: Callable[[], object] = gc.collect,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._collect = collect
        self._last_turn = clock()

    def begin(self) -> bool:
        """Exempt all objects of now from collection. Return False, and do nothing, if the collector is on."""
        if gc.isenabled():
            return False
        gc.freeze()
        gc.set_threshold(*SHORT_TURNS, NEVER)
        gc.enable()
        return True

    def collect_if_due(self) -> None:
        """Run a full collection if it is due and no key was pressed for QUIET seconds."""
        since = self._clock() - self._last_turn
        if since >= OVERDUE or (since >= DUE and self._keys.idle_seconds >= QUIET):
            self._collect()
            self._last_turn = self._clock()


TABLE_INTERVAL = 0.1  # seconds: tables are painted at 10 Hz, and at 5 Hz while no key is pressed


log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())


class Dashboard(ThemedApp):
    """The part of the app that screens and commands use; `feed` and `tick` drive it."""

    no_server = ""  # why this app never has a server of its own to send to

    class GoTo(Message):
        """The user wants to be elsewhere."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    def __init__(
        self,
        source: TelemetrySource | None = None,
        *,
        start_timers: bool = True,
        clock: Callable[[], float] = time.time,
        preferences: Preferences = DEFAULTS,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(preferences)
        self.set_keymap(usable(preferences.keymap))
        self.preferences = preferences
        self.intake = Intake(source, self.paint_link)
        self.paused = False
        self.writes = False  # whether the logs show writes
        self.clock = clock
        self.start_timers = start_timers
        self.recording = ActiveRecording(self.intake, clock, recorder)
        self.tables = TableMemory(preferences.columns)
        self.selection: Selection | None = None  # the request that the Versions screen shows
        self.keys_seen = RecentNames()  # keys of etcd that were opened, for completion
        self._follower: Worker[None] | None = None
        self._begun = False
        self.interrupted = False  # ended by Ctrl-C
        self.receiver: OtlpReceiver | None = None  # of the server's traces, with --otlp
        self._keys = KeyActivity()
        self._collector = Collector(self._keys)
        self._failures = 0  # of ticks, one after the other
        self._paused_until = 0.0

    # State and server.

    @property
    def state(self) -> State:
        return self.intake.state

    @property
    def link(self) -> Link:
        return self.intake.link

    @property
    def client(self) -> ApiClient | None:
        """The client that screens send requests with; None in a replay and until the server answers."""
        return self.intake.client

    @property
    def server_url(self) -> str:
        """The server in commands that people copy; of a recording it is not known."""
        return self.client.connection.url if self.client is not None else "https://SERVER"

    @property
    def story_text(self) -> Content | None:
        """The current step of the tour, or its offer, for the banner; None without one."""
        return None

    @property
    def story_active(self) -> bool:
        """True while a step of the tour is shown, which no other banner may hide."""
        return False

    # Telemetry.

    def on_mount(self) -> None:
        leave_on_signals(self, self.action_quit)
        if self.start_timers:
            self.set_interval(TABLE_INTERVAL, self._tick_supervised)
            self.set_interval(WATCH_INTERVAL, self.reload_themes)

    @on(WholeScreen.Seen)
    def _begin(self) -> None:
        """Start reading telemetry, once the first frame is on the terminal."""
        if self._begun:
            return
        self._begun = True
        if self._collector.begin():
            self.set_interval(EVERY, self._collector.collect_if_due)
        if self.intake.source is not None:
            self.follow()

    def work_failed(self, error: Exception) -> None:
        log.error("a background task of the dashboard failed: %s", describe(error), exc_info=error)
        self._notify_of_bug(describe(error))

    def report(self, failure: Failure) -> None:
        """Report a failed task that will be tried again, on the screen and in the log."""
        log.error("%s", failure, exc_info=failure.error)
        self._notify_of_bug(str(failure))

    def _notify_of_bug(self, text: str) -> None:
        self.notify(safe(text), title="a bug in ktui", severity="error")

    @contextmanager
    def notifying_errors(self, title: str = "", severity: SeverityLevel = "error") -> Iterator[None]:
        """Notify of a ClientError, which ends the block."""
        try:
            yield
        except ClientError as error:
            self.notify(str(error), title=title, severity=severity)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent) and not isinstance(event, events.MouseMove):
            self._keys.pressed()
        await super().on_event(event)

    def follow(self) -> None:
        """Start connecting to the source and reading it until it ends."""
        follow = self.intake.follow()
        self._follower = self.run_worker(follow, name="telemetry", exclusive=True, group="telemetry")

    def feed(self, events: Iterable[AnyEvent]) -> None:
        """Queue events; the next tick folds them."""
        self.intake.take(events)

    def tick(self) -> None:
        """Apply the queued events and let the current screen paint."""
        self.intake.fold()

    def _tick_supervised(self) -> None:
        """Tick, or only fold where KeyActivity defers the frame: a backlog would delay the next tick.

        After a bug in a screen, pause for longer after each further one, and go on painting.
        """
        if time.monotonic() < self._paused_until:
            return
        try:
            (self.intake.fold if self._keys.defers_tick() else self.tick)()
        except Exception as error:
            self._failures += 1
            pause = PAUSES[min(self._failures, len(PAUSES)) - 1]
            self._paused_until = time.monotonic() + pause
            self.report(Failure("painting", error, self._failures, pause))
        else:
            self._failures = 0

    def paint_link(self) -> None:
        """Called when the connection to the source has changed."""

    def action_restart(self) -> None:
        if self.link.broken and self.link.restartable:
            self.follow()

    async def action_interrupt(self) -> None:
        """Quit on Ctrl-C; the message in the shell names it."""
        self.interrupted = True
        await self.action_quit()

    async def action_quit(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
        await self.intake.close()
        self.recording.stop()
        self.exit(0)

    # Keys and places.

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or written(binding.key)

    def go_to(self, place: Place) -> None:
        """Show another screen, or another part of this one, after the current message."""
        self.post_message(self.GoTo(place))

    def show_request(self, request_id: int) -> None:
        self.go_to(Place("requests", RequestRef(request_id)))


class OnDashboard(Widget):
    """A widget of the dashboard's screens. It is the last base: Textual takes default CSS from the first."""

    @property
    def ktui(self) -> Dashboard:
        return cast(Dashboard, self.app)
