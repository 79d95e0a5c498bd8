"""Reads telemetry from a source into the state: connects, queues events, folds them, and records them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, Marker
from ktui.contract.recording import RecordingError
from ktui.core import reducer
from ktui.core.format import clock_time, long_bytes
from ktui.core.state import State
from ktui.supervision import describe
from ktui.tui.source import LaunchError, Link, Report, Stage, TelemetrySource

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.core.recordings.recorder import Recorder
    from ktui.tui.replay.playback import Playback


log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0)  # between attempts to reach a server; the last one repeats
SILENCE_SECONDS = 15.0  # a live server publishes etcd's status at least every 5 s
LONGEST_STEP = 1.0  # seconds of silence counted per fold: a suspended process reads nothing
BACKLOG = 50_000  # events queued at most; the oldest are dropped and counted


class Intake:
    """The dashboard's `state`, its connection to the source (`link`), and its `client`.

    Events are queued until `fold`, so that the screens decide how often the state changes.
    `changed` is called after a change of the link.
    """

    def __init__(
        self,
        source: TelemetrySource | None,
        changed: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.source = source
        self.client: ApiClient | None = None
        self.state = State()
        self.link = Link(Stage.STARTING)
        self.playback: Playback | None = None  # once a recording has been opened
        self.tap: Callable[[Sequence[AnyEvent]], None] | None = None  # receives all events
        self._changed = changed
        self._clock = clock
        self._folded_at = clock()
        self._silent = 0.0  # seconds without any event
        self._waiting: deque[AnyEvent] = deque()
        self._lost = 0

    @property
    def replays(self) -> bool:
        """True if the source is a recording."""
        return self.source is not None and self.source.replays

    @property
    def _retries(self) -> bool:
        return self.source is not None and self.source.reconnects

    def take(self, events: Iterable[AnyEvent]) -> None:
        self._silent = 0.0
        if self.source is not None and self.link.stage is Stage.SILENT:
            self.set_link(self.source.link())
        if self.tap is not None:
            events = tuple(events)
            self.tap(events)
        self._waiting.extend(events)
        while len(self._waiting) > BACKLOG:
            self._waiting.popleft()
            self._lost += 1

    def fold(self) -> None:
        if self.playback is not None:
            self.playback.advance()
            self.state = self.playback.player.state
            return
        # Is the link silent: has a connected server sent nothing for SILENCE_SECONDS?
        now = self._clock()
        self._silent += min(now - self._folded_at, LONGEST_STEP)
        self._folded_at = now
        if self.link.stage is Stage.LIVE and self.source is not None and self._silent > SILENCE_SECONDS:
            since = f"no telemetry since {clock_time(self.state.now)}"
            self.set_link(Link(Stage.SILENT, since, self.source.restartable, self._retries))
        if self._lost:
            self.state.dropped += self._lost
            self._lost = 0
        waiting, self._waiting = self._waiting, deque()
        reducer.apply(self.state, waiting)

    def reset_state(self) -> None:
        """Start with an empty state: a new server numbers its requests from the start."""
        self._waiting.clear()
        self._lost = 0
        self.state = State()

    def set_link(self, link: Link) -> None:
        self.link = link
        self._changed()

    async def follow(self) -> None:
        """Connect to the source and read it until it ends. Retry with a server that ktui did not start."""
        source = self.source
        if source is None:
            return
        self.set_link(Link(Stage.STARTING))
        failures, retries = 0, False

        def report(doing: str) -> None:
            if not retries:  # then the screen keeps its data until there is newer, and the banner says why
                self.set_link(Link(Stage.STARTING, doing))

        while True:
            came, why = await self._read(source, report)
            if self.link.stage is Stage.REPLAY:
                return
            self.set_link(Link(Stage.STOPPED, why, source.restartable, self._retries, self.replays))
            if not self._retries:
                return
            failures = 0 if came else failures + 1
            await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
            retries = True

    async def _read(self, source: TelemetrySource, report: Report) -> tuple[bool, str]:
        """Return whether any event came, and why no more do."""
        try:
            self.client = await source.connect(report)
        except Exception as error:
            return False, _problem(error)
        self.playback = source.playback
        if self.playback is not None:
            self.playback.changed = self._changed
            self.reset_state()
            self.set_link(source.link())
        came = False
        try:
            async for batch in source.batches():
                if not came:
                    came = True
                    if self.playback is None:
                        self.reset_state()
                        self.set_link(source.link())
                self.take(batch)
            return came, await source.why_stopped()
        except Exception as error:
            return came, await source.why_stopped() or _problem(error)

    async def close(self) -> None:
        if self.source is not None:
            await self.source.close()


def _problem(error: Exception) -> str:
    """Return what to show for an error; one that is not expected is logged."""
    if isinstance(error, ClientError | LaunchError | RecordingError):
        return str(error)
    log.error("reading the telemetry failed: %s", describe(error), exc_info=error)
    return f"a bug in ktui: {describe(error)}"


class ActiveRecording:
    """At most one recorder, which receives all events of the intake. `clock` returns Unix seconds."""

    def __init__(self, intake: Intake, clock: Callable[[], float], recorder: Recorder | None = None) -> None:
        self._intake = intake
        self._clock = clock
        self._recorder: Recorder | None = None
        if recorder is not None:
            self._begin(recorder)

    @property
    def running(self) -> bool:
        return self._recorder is not None

    @property
    def waiting(self) -> bool:
        """True while some events have not been written yet."""
        return self._recorder is not None and self._recorder.waiting

    @property
    def problem(self) -> str:
        """The error that has ended the recording, "" without one."""
        return self._recorder.problem if self._recorder is not None else ""

    @property
    def sign(self) -> str:
        """`● REC 1.2 MB` while recording, else ""."""
        return f"● REC {long_bytes(self._recorder.bytes)}" if self._recorder is not None else ""

    def start(self, path: Path | None = None) -> str:
        """Start recording to a new file. Return an error, "" if there is none.

        The file begins with the current state, so that a replay is complete from the start.
        """
        # start-up time
        from ktui.core.recordings.recorder import Recorder
        from ktui.core.reducer import state_events

        if self._recorder is not None:
            return f"recording to {self._recorder.path.name} already: R stops it"
        try:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._clock()))
            recorder = Recorder(path or Path.cwd() / f"ktui-{stamp}.ndjson.gz", fresh=True)
        except RecordingError as error:
            return str(error)
        self._intake.fold()
        recorder.write(state_events(self._intake.state, self._clock()))
        self._begin(recorder)
        return ""

    def _begin(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._intake.tap = recorder.write

    def stop(self) -> str:
        """End the recording. Return what was recorded, or its error; "" if nothing was being recorded."""
        recorder, self._recorder, self._intake.tap = self._recorder, None, None
        if recorder is None:
            return ""
        recorder.close()
        return recorder.problem or f"{long_bytes(recorder.bytes)} recorded in {recorder.path}"

    def failed(self) -> str:
        """Return, once, the error that has ended the recording; "" without one."""
        return self.stop() if self.problem else ""

    def mark(self, text: str, at: float) -> None:
        if self._recorder is not None:
            self._recorder.write([Marker(at=at, text=text)])
