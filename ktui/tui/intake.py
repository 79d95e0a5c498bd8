"""From a source to the state: connect, read its events, fold them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ktui.client.connection import ClientError
from ktui.contract.errors import RecordingError
from ktui.contract.events import AnyEvent
from ktui.core import reducer
from ktui.core.format import clock_time
from ktui.core.state import State
from ktui.supervision import describe
from ktui.tui.source import LaunchError, Link, Report, Stage, TelemetrySource

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.tui.replay.playback import Playback

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0)  # between attempts to reach a foreign server; the last one repeats
SILENCE_SECONDS = 15.0  # a live server publishes etcd's status at least every 5 s
LONGEST_STEP = 1.0  # of silence between two folds: while this process slept nothing was read
BACKLOG = 50_000  # events that may wait to be folded; the oldest go first, and are counted


class Intake:
    """What the dashboard knows (`state`), how it stands to its source (`link`), whom it can ask (`client`).

    Events wait until `fold`: the screens decide how often there is a new state.
    `changed` is called when the link has become another.
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
        self.playback: Playback | None = None  # of a recording that has been read
        self.tap: Callable[[Sequence[AnyEvent]], None] | None = None  # is given all that comes
        self.sign: Callable[[], str] = lambda: ""  # what the header says of the recording being made
        self._changed = changed
        self._clock = clock
        self._listened = clock()  # when it was folded last
        self._silent = 0.0  # seconds without any event
        self._waiting: deque[AnyEvent] = deque()
        self._lost = 0

    @property
    def waiting(self) -> int:
        """Events that have come and are not folded yet."""
        return len(self._waiting)

    @property
    def replays(self) -> bool:
        """Whether the source is a recording."""
        return hasattr(self.source, "playback")

    @property
    def _retries(self) -> bool:
        """Whether the source is a server that ktui did not start, which may be back at any time."""
        return bool(getattr(self.source, "reconnects", False))

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
        """Bring the state up to what has come."""
        if self.playback is not None:
            self.playback.advance()
            self.state = self.playback.player.state
            return
        self._listen()
        if self._lost:
            self.state.dropped += self._lost
            self._lost = 0
        waiting, self._waiting = self._waiting, deque()
        reducer.apply(self.state, waiting)

    def _listen(self) -> None:
        """Distinguish a connected server that sends nothing from a healthy one."""
        now = self._clock()
        self._silent += min(now - self._listened, LONGEST_STEP)
        self._listened = now
        if self.link.stage is Stage.LIVE and self.source is not None and self._silent > SILENCE_SECONDS:
            since = f"no telemetry since {clock_time(self.state.now)}"
            self.set_link(Link(Stage.SILENT, since, self.source.restartable, self._retries))

    def begin_again(self) -> None:
        """A new server numbers its requests from the start: nothing old may mix with it."""
        self._waiting.clear()
        self._lost = 0
        self.state = State()

    def set_link(self, link: Link) -> None:
        self.link = link
        self._changed()

    async def follow(self) -> None:
        """Connect to the source and read it until it ends; a server that ktui did not start is waited for."""
        source = self.source
        if source is None:
            return
        self.set_link(Link(Stage.STARTING))
        report: Report = self._report_starting
        failures = 0
        while True:
            came, why = await self._read(source, report)
            if self.link.stage is Stage.REPLAY:
                return
            self.set_link(Link(Stage.STOPPED, why, source.restartable, self._retries, self.replays))
            if not self._retries:
                return
            failures = 0 if came else failures + 1
            await asyncio.sleep(RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
            report = _silently  # what is on the screen stays until there is something newer

    def _report_starting(self, doing: str) -> None:
        self.set_link(Link(Stage.STARTING, doing))

    async def _read(self, source: TelemetrySource, report: Report) -> tuple[bool, str]:
        """Whether anything came, and why no more does."""
        try:
            self.client = await source.connect(report)
        except (ClientError, LaunchError, RecordingError) as error:
            return False, str(error)
        except Exception as error:
            return False, _bug(error)
        self.playback = getattr(source, "playback", None)
        if self.playback is not None:
            self.playback.changed = self._changed
            self.begin_again()
            self.set_link(source.link())
        return await self._take_all(source)

    async def _take_all(self, source: TelemetrySource) -> tuple[bool, str]:
        """As `_read`, of a source that is connected."""
        came = False
        try:
            async for batch in source.batches():
                if not came:
                    came = True
                    if self.playback is None:
                        self.begin_again()
                        self.set_link(source.link())
                self.take(batch)
            return came, await source.why_stopped()
        except (ClientError, RecordingError) as error:
            return came, await source.why_stopped() or str(error)
        except Exception as error:
            return came, await source.why_stopped() or _bug(error)

    async def close(self) -> None:
        if self.source is not None:
            await self.source.close()


def _bug(error: Exception) -> str:
    """What to say of an error that reading the telemetry must not raise; it is in the log."""
    log.error("reading the telemetry failed: %s", describe(error), exc_info=error)
    return f"a bug in ktui: {describe(error)}"


def _silently(_doing: str) -> None:
    """Report nothing: the banner already says that ktui tries again."""
