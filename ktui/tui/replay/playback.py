"""Plays a recording; seeks run in a thread, and the newest one wins."""

from __future__ import annotations

import asyncio
import time
from bisect import insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ktui.contract.recording import RecordingError
from ktui.core.recordings.markers import MarkerFile, TimelineMarker, worst_finding
from ktui.core.replay.index import Index, ReplayPosition
from ktui.core.replay.player import Player
from ktui.tui.replay.bar import Position, event_text

LONGEST_STEP = 1.0  # seconds per tick: a suspended machine does not skip events
Making = Callable[[], ReplayPosition]


class Playback:
    """A player driven by a monotonic clock (seconds), which stays responsive during seeks.

    `changed` is called when a seek starts or ends.
    """

    def __init__(self, index: Index, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.index = index
        self.player = Player(index, speed)
        self.changed: Callable[[], None] = lambda: None
        self._lost = ""  # why the recording can no longer be read
        self._clock = clock
        self._then = clock()
        self._markers = MarkerFile(index.reader.path)
        self.markers = sorted([*index.markers, *self._markers.markers], key=lambda item: item.at)
        self._wanted: tuple[Making, float] | None = None  # the newest seek, and its time
        self._seeking: asyncio.Task[None] | None = None

    @property
    def problem(self) -> str:
        """What is wrong with the recording or the markers' file, "" if nothing is."""
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
        """Play up to the present, unless a seek is running."""
        now = self._clock()
        elapsed, self._then = min(now - self._then, LONGEST_STEP), now
        if self._wanted is None and not self._lost:
            with self._reading():
                self.player.advance(elapsed)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Stop for good at the current state if the file was truncated or overwritten."""
        try:
            yield
        except RecordingError as error:
            self._lost = str(error)
            self._wanted = None
            self.player.playing = False

    # Seeking.

    @property
    def seeking(self) -> bool:
        """True while a seek is running."""
        return self._seeking is not None and not self._seeking.done()

    def open_at_worst(self) -> None:
        """Pause at the worst finding, if there is one."""
        worst = worst_finding(self.markers)
        if worst is not None:
            self.player.playing = False
            self.player.seek(min(max(worst.at, self.index.began), self.index.ended))

    def seek(self, at: float) -> None:
        """Go to a time; replaces a seek that has not started yet."""
        at = min(max(at, self.index.began), self.index.ended)
        self._request_seek(partial(self.index.place_at, at), at)

    def move(self, seconds: float) -> None:
        self.seek(self.position.at + seconds)

    def step(self, events: int) -> None:
        self.player.playing = False
        if self._lost:
            return
        if events > 0:
            with self._reading():
                self.player.step_forward()
        elif self._wanted is None:
            self._request_seek(partial(self.index.place_after, self.player.number + events), self.player.at)

    def pause(self) -> None:
        """Pause or resume; at the end, start again."""
        player = self.player
        if self._lost:
            return
        if player.ended and not player.playing:
            self.seek(self.index.began)
        player.playing = not player.playing

    def mark(self, text: str, at: float) -> str:
        """Set a marker. Return what is wrong with the markers' file, "" if nothing is."""
        marker = TimelineMarker(at, text, own=True)
        insort(self.markers, marker, key=lambda item: item.at)
        self._markers.add(marker)
        self.changed()
        return self._markers.problem

    def _request_seek(self, making: Making, at: float) -> None:
        if self._lost:
            return
        self._wanted = (making, at)
        self.changed()
        if not self.seeking:
            self._seeking = asyncio.create_task(self._run_seeks(), name="seek")

    async def _run_seeks(self) -> None:
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
