"""The index of a recording: read once in full, then the state at any moment takes a short replay."""

from __future__ import annotations

import pickle
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ktui.collector import without_collector
from ktui.contract.events import AnyEvent, EtcdCall, ServerInfo
from ktui.contract.recording import RecordingError
from ktui.core import reducer
from ktui.core.recordings.markers import MarkerFinder, Timeline, TimelineMarker, is_restart
from ktui.core.recordings.reader import RecordingReader
from ktui.core.recordings.segments import ReportShare
from ktui.core.state import CALL_LOG, READ_LOG, LogBudget, State

FURTHEST = 3 * READ_LOG  # most requests to fold: if reads are rare, older reads count as dropped
MOST = 400  # keyframes kept; beyond that every other one is dropped and the distance doubles
EVERY = 10_000  # events between two keyframes, at first


class Keyframe(NamedTuple):
    """The state before event number `event`, which begins at `start` in the file.

    Packed without the logs of requests and calls, except for the requests in flight:
    folding starts early enough to rebuild the log of reads.
    """

    event: int
    start: int
    epoch: int  # number of previous servers in the recording
    seen: int  # requests since the current server started
    reads: int  # reads among them
    calls: tuple[int, int]  # positions of its etcd calls so far, in Keyframes.calls
    packed: bytes


class Keyframes:
    """Keyframes in the order of the file."""

    def __init__(self) -> None:
        self.calls = array("Q")  # offset in the file of every etcd call
        self._frames: list[Keyframe] = []
        self._every = EVERY
        self._epoch_calls = 0
        self._epoch = 0

    def due(self, event: int) -> bool:
        return not self._frames or event - self._frames[-1].event >= self._every

    def add(self, state: State, event: int, start: int, *, new_server: bool = False) -> None:
        """Keep `state`. The first state of a new server is empty and is never thinned out."""
        if new_server:
            self._epoch += 1
            self._epoch_calls = len(self.calls)
        calls = (max(self._epoch_calls, len(self.calls) - CALL_LOG), len(self.calls))
        seen, reads = state.seen, state.reads.seen
        self._frames.append(Keyframe(event, start, self._epoch, seen, reads, calls, _pack(state)))
        if len(self._frames) > MOST:
            self._every *= 2
            kept = self._frames[:1]
            for frame in self._frames[1:]:
                if frame.epoch != kept[-1].epoch or frame.event - kept[-1].event >= self._every:
                    kept.append(frame)
            self._frames = kept

    def before(self, event: int) -> Keyframe:
        """Return the keyframe from which to fold up to event number `event`, with all reads of the log.

        Never the keyframe at `event` itself: that of a new server is empty.
        """
        place = max(0, bisect_left(self._frames, event, key=lambda frame: frame.event) - 1)
        nearest = self._frames[place]
        while place and self._frames[place - 1].epoch == nearest.epoch:
            frame = self._frames[place]
            if frame.reads <= nearest.reads - READ_LOG or frame.seen <= nearest.seen - FURTHEST:
                break
            place -= 1
        return self._frames[place]

    def restore(self, frame: Keyframe, reader: RecordingReader) -> State:
        """Return the state of a keyframe, with the etcd calls before it."""
        state: State = pickle.loads(zlib.decompress(frame.packed))
        first, last = frame.calls
        calls = (reader.event_at(start) for start in self.calls[first:last])
        state.calls = deque((call for call in calls if isinstance(call, EtcdCall)), CALL_LOG)
        return state


def _pack(state: State) -> bytes:
    under_way = {id_: row for id_, row in state.requests.items() if not row.done}
    reads, writes = (
        LogBudget(log.most, deque(number for number in log.ids if number in under_way), log.seen)
        for log in (state.reads, state.writes)
    )
    lean = replace(state, requests=under_way, reads=reads, writes=writes, calls=deque(maxlen=CALL_LOG))
    return zlib.compress(pickle.dumps(lean, pickle.HIGHEST_PROTOCOL), 1)


BLOCK = 1_000  # events from one known offset in the file to the next


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


class ReplayPosition(NamedTuple):
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
            with without_collector():
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
        with without_collector():
            state = self._keyframes.restore(frame, self.reader)
            events = (line.event for line in self.reader.lines(frame.start) if line.event is not None)
            reducer.apply(state, islice(events, number - frame.event))
        return ReplayPosition(number, max(at, self.began), state)


def is_new_server(state: State, event: AnyEvent) -> bool:
    """True if `event` is the first one of another server: `state` is not valid for that one."""
    return isinstance(event, ServerInfo) and is_restart(state.server, event)
