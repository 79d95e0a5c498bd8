"""States kept along a recording, so that seeking back does not replay from the start."""

from __future__ import annotations

import pickle
import zlib
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from ktui.contract.events import EtcdCall
from ktui.core.recordings.reader import RecordingReader
from ktui.core.state import CALL_LOG, READ_LOG, LogBudget, RequestRow, State

FURTHEST = 3 * READ_LOG  # most requests to fold: if reads are rare, older reads count as dropped
MOST = 400  # keyframes kept; beyond that every other one is dropped and the distance doubles
EVERY = 10_000  # events between two keyframes, at first


@dataclass(frozen=True, slots=True)
class Keyframe:
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
            self._thin()

    def _thin(self) -> None:
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
    reads, writes = (_pending(log, under_way) for log in (state.reads, state.writes))
    lean = replace(state, requests=under_way, reads=reads, writes=writes, calls=deque(maxlen=CALL_LOG))
    return zlib.compress(pickle.dumps(lean, pickle.HIGHEST_PROTOCOL), 1)


def _pending(log: LogBudget, under_way: Mapping[int, RequestRow]) -> LogBudget:
    return LogBudget(log.most, deque(number for number in log.ids if number in under_way), log.seen)


def renew(state: State, generation: int) -> None:
    """Increase all counters of `state.touched`, so that every panel repaints."""
    touched = state.touched
    for name in touched.__struct_fields__:
        setattr(touched, name, getattr(touched, name) + (generation << 40))
