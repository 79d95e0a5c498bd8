"""The index of a recording: read once in full, then the state at any moment takes a short replay."""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ktui.contract.errors import RecordingError
from ktui.contract.events import AnyEvent, EtcdCall, ServerInfo
from ktui.core import reducer
from ktui.core.recordings.markers import MarkerFinder, TimelineMarker, is_restart
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.timeline import Timeline
from ktui.core.replay.keyframes import Keyframes
from ktui.core.state import State

BLOCK = 1_000  # events from one known offset in the file to the next
ReportShare = Callable[[float], None]  # takes the share (0 to 1) that is done


class Block(NamedTuple):
    """A known offset: before event `number`, at offset `start` of the file, at the time `at`."""

    number: int
    start: int
    at: float


class ReplayStep(NamedTuple):
    """One event with its number (from 0) and its time (Unix seconds)."""

    number: int
    at: float
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """A moment of the recording: the number of events so far, the time, the state."""

    number: int
    at: float
    state: State


class Index:
    """A recording that was read once in full. All times are the recording's, in Unix seconds.

    `events` is their number, without blank lines and events of a newer ktui. Raises RecordingError.
    """

    def __init__(self, path: Path, report: ReportShare = lambda share: None) -> None:
        self.reader = RecordingReader(path, lambda share: report(share / 2))
        self.events = 0
        self.markers: list[TimelineMarker] = []
        self.seconds: Counter[int] = Counter()  # events by whole seconds since the beginning
        self._keyframes = Keyframes()
        self._blocks: list[Block] = []
        try:
            with _no_collector():
                self._read(report)
        except RecordingError:
            self.reader.close()
            raise

    @property
    def warning(self) -> str:
        return self.reader.warning

    def close(self) -> None:
        self.reader.close()

    # Reading it once.

    def _read(self, report: ReportShare) -> None:
        state, timeline, markers = State(), Timeline(), MarkerFinder()
        for line in self.reader.lines():
            if (event := line.event) is None:
                continue
            if new_server := is_new_server(state, event):
                state = State()
            if new_server or self._keyframes.due(self.events):
                self._keyframes.add(state, self.events, line.start, new_server=new_server)
            if self.events % BLOCK == 0:
                self._blocks.append(Block(self.events, line.start, timeline.now))
                report(line.start / self.reader.size)
            at = timeline.advance(event)
            reducer.apply(state, (event,))
            if isinstance(event, EtcdCall):
                self._keyframes.calls.append(line.start)
            if (marker := markers.marker_for(event, at)) is not None:
                self.markers.append(marker)
            if timeline.began:
                self.seconds[int(at - timeline.began)] += 1
            self.events += 1
        if not timeline.began:
            raise RecordingError(f"{self.reader.path} has no telemetry events with a time")
        self.began, self.ended = timeline.began, timeline.now

    # Seeking.

    def steps(self, number: int) -> Iterator[ReplayStep]:
        """Yield the events from number `number` (counted from 0) to the end."""
        block = bisect_right(self._blocks, number, key=lambda block: block.number) - 1
        return (step for step in self._steps(self._blocks[block]) if step.number >= number)

    def _steps(self, block: Block) -> Iterator[ReplayStep]:
        timeline, number = Timeline(block.at), block.number
        for line in self.reader.lines(block.start):
            if line.event is not None:
                yield ReplayStep(number, timeline.advance(line.event), line.event)
                number += 1

    def _events(self, start: int) -> Iterator[AnyEvent]:
        return (line.event for line in self.reader.lines(start) if line.event is not None)

    def number_at(self, at: float) -> int:
        """Return the number of events up to and including the time `at`."""
        block = self._blocks[max(0, bisect_right(self._blocks, at, key=lambda block: block.at) - 1)]
        number = block.number
        for step in self._steps(block):
            if step.at > at:
                break
            number = step.number + 1
        return number

    def place_at(self, at: float) -> ReplayPosition:
        """Return the position at the time `at`, limited to the recording's duration."""
        at = min(max(at, self.began), self.ended)
        return self._place(self.number_at(at), at)

    def place_after(self, number: int) -> ReplayPosition:
        """Return the position after `number` events (at least 1)."""
        number = min(max(number, 1), self.events)
        return self._place(number, next(self.steps(number - 1)).at)

    def _place(self, number: int, at: float) -> ReplayPosition:
        frame = self._keyframes.before(number)
        with _no_collector():
            state = self._keyframes.restore(frame, self.reader)
            between = islice(self._events(frame.start), number - frame.event)
            reducer.apply(state, between)
        return ReplayPosition(number, max(at, self.began), state)


def is_new_server(state: State, event: AnyEvent) -> bool:
    """True if `event` is the first one of another server: `state` is not valid for that one."""
    return isinstance(event, ServerInfo) and is_restart(state.server, event)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Switch the garbage collector off: folding makes many objects without cycles, which it would scan."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
