"""Seeks of a replay, in a thread; the newest one wins."""

from __future__ import annotations

import asyncio
import time
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ktui.contract.errors import RecordingError
from ktui.core.recordings.markers import TimelineMarker
from ktui.core.replay.index import Index, ReplayPosition
from ktui.core.replay.marker_file import MarkerFile
from ktui.core.replay.player import Player
from ktui.tui.replay.bar import Position, event_text

LONGEST_STEP = 1.0  # seconds: a machine that was asleep does not skip what was recorded
Making = Callable[[], ReplayPosition]


class Playback:
    """A player by a clock (seconds, never going back), with seeks that hold nothing up.

    `changed` is called when a seek has arrived or begins.
    """

    def __init__(self, index: Index, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.index = index
        self.player = Player(index, speed)
        self.changed: Callable[[], None] = lambda: None
        self._lost = ""  # why nothing more can be read
        self._clock = clock
        self._then = clock()
        self._markers = MarkerFile(index.reader.path)
        self.markers = sorted([*index.markers, *self._markers.markers], key=lambda item: item.at)
        self._wanted: tuple[Making, float] | None = None  # the newest wish, and where it leads
        self._seeking: asyncio.Task[None] | None = None

    @property
    def problem(self) -> str:
        """What is wrong with the recording or with the markers' file, "" when nothing is."""
        return self._lost or self._markers.problem

    @property
    def position(self) -> Position:
        player, wanted = self.player, self._wanted
        return Position(
            at=wanted[1] if wanted is not None else player.at,
            number=player.number,
            events=self.index.events,
            playing=player.playing,
            ended=player.ended or bool(self._lost),
            speed=player.speed,
            event="" if player.playing or player.last is None else event_text(player.last.event),
        )

    def advance(self) -> None:
        """Go on to the present, unless a seek is under way."""
        now = self._clock()
        elapsed, self._then = min(now - self._then, LONGEST_STEP), now
        if self._wanted is None and not self._lost:
            with self._reading():
                self.player.advance(elapsed)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold still for good when the file was truncated or overwritten: what is shown stays."""
        try:
            yield
        except RecordingError as error:
            self._lost = str(error)
            self._wanted = None
            self.player.playing = False

    # Seeking.

    @property
    def seeking(self) -> bool:
        """Whether a seek is under way."""
        return self._seeking is not None and not self._seeking.done()

    def seek(self, at: float) -> None:
        """Go to a time; a later wish goes before one that has not been begun."""
        at = min(max(at, self.index.began), self.index.ended)
        self._wish(partial(self.index.place_at, at), at)

    def move(self, seconds: float) -> None:
        self.seek(self.position.at + seconds)

    def step(self, events: int) -> None:
        """Hold still, one event further or back."""
        self.player.playing = False
        if self._lost:
            return
        if events > 0:
            with self._reading():
                self.player.step_forward()
        elif self._wanted is None:
            self._wish(partial(self.index.place_after, self.player.number + events), self.player.at)

    def pause(self) -> None:
        """Hold still, or go on; at the end, from the beginning."""
        player = self.player
        if self._lost:
            return
        if player.ended and not player.playing:
            self.seek(self.index.began)
        player.playing = not player.playing

    def mark(self, text: str, at: float) -> str:
        """Set a marker; what is wrong with its file, "" when nothing is."""
        marker = TimelineMarker(at, text, own=True)
        insort(self.markers, marker, key=lambda item: item.at)
        self._markers.add(marker)
        self.changed()
        return self._markers.problem

    def _wish(self, making: Making, at: float) -> None:
        if self._lost:
            return
        self._wanted = (making, at)
        self.changed()
        if not self.seeking:
            self._seeking = asyncio.create_task(self._grant(), name="seek")

    async def _grant(self) -> None:
        while (wanted := self._wanted) is not None:
            with self._reading():
                place = await asyncio.to_thread(wanted[0])
                if self._wanted is wanted:
                    self.player.put(place)
                    self._wanted = None
        self.changed()

    async def close(self) -> None:
        self._wanted = None
        if self._seeking is not None:
            await asyncio.wait([self._seeking])
        self.index.close()
