"""The period that a log covers, and a bounded count of distinct keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

FIRST, LAST = -(1 << 62), 1 << 62
"""Bounds of time (microseconds) that bound nothing."""
NEVER = FIRST
_BACK = 60_000_000  # microseconds that a log must go back to count: buffering explains less
_DAY = 86_400_000_000
_MOST_DAYS = 4096
_HASHES = 1 << 63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RARE = 10  # a tenth of the records at most is far from the rest …
_FAR = 10  # … by a day and this many times the time that the rest spans


def iso_time(micros: int, timespec: str = "milliseconds") -> str:
    """Return microseconds since 1970 in ISO 8601 (UTC)."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(timespec=timespec)


@dataclass(slots=True)
class LogPeriod:
    """The period of one log format, microseconds since 1970. `back`: how often it goes back by a minute.

    `begin` and `now` are the first and last time in the order of the file. `days` has the number of records,
    the first and the last time of each day.
    """

    begin: int
    now: int
    back: int = 0
    days: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, moments: Sequence[int]) -> LogPeriod:
        period = cls(moments[0], moments[0])
        period.add(moments)
        return period

    def add(self, moments: Sequence[int]) -> None:
        """Add times, in the order of the file."""
        first, last = min(moments), max(moments)
        if first < max(last, self.now) - _BACK:
            before = (self.now, *moments)
            self.back += sum(at < earlier - _BACK for earlier, at in zip(before, moments, strict=False))
        self.now = moments[-1]
        if first // _DAY == last // _DAY:
            self._add_day(len(moments), first, last)
        else:
            for at in moments:
                self._add_day(1, at, at)

    def extend(self, other: LogPeriod, *, same_file: bool) -> None:
        self.back += other.back + (same_file and other.begin < self.now - _BACK)
        self.now = other.now
        for day in other.days.values():
            self._add_day(*day)

    def _add_day(self, count: int, first: int, last: int) -> None:
        day = first // _DAY
        known = self.days.get(day)
        if known is not None:
            self.days[day] = (known[0] + count, min(known[1], first), max(known[2], last))
        elif len(self.days) < _MOST_DAYS:
            self.days[day] = (count, first, last)

    @property
    def usual(self) -> tuple[int, int, int]:
        """The first and the last time, without times that are far from the rest, and the number of these."""
        clusters: list[tuple[int, int, int]] = []
        for count, first, last in (self.days[day] for day in sorted(self.days)):
            if clusters and first - clusters[-1][2] <= _DAY:
                clusters[-1] = (clusters[-1][0] + count, clusters[-1][1], last)
            else:
                clusters.append((count, first, last))
        main = max(clusters)
        far = max(_DAY, _FAR * (main[2] - main[1]))
        total = sum(count for count, _, _ in clusters)
        kept = [
            cluster
            for cluster in clusters
            if cluster[0] * _RARE > total or max(main[1] - cluster[2], cluster[1] - main[2]) <= far
        ]
        return kept[0][1], kept[-1][2], total - sum(count for count, _, _ in kept)

    @property
    def seconds(self) -> float:
        """The length of the usual period."""
        first, last, _ = self.usual
        return (last - first) / 1e6


class DistinctKeys:
    """How many different keys were added, in bounded memory: exact up to `MOST`, then within a few percent.

    Keeps the smallest hashes, whose density is that of all.
    """

    MOST = 4096

    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self._smallest: set[int] = set()
        self._below = _HASHES
        self.merge(hashes)

    def add(self, key: bytes) -> None:
        self.merge((int.from_bytes(blake2b(key, digest_size=8).digest(), "little") >> 1,))

    def merge(self, hashes: Iterable[int]) -> None:
        """Add keys by their hashes."""
        self._smallest.update(number for number in hashes if 0 <= number < self._below)
        if len(self._smallest) > 2 * self.MOST:
            self._smallest = set(sorted(self._smallest)[: self.MOST])
            self._below = max(self._smallest) + 1

    @property
    def hashes(self) -> list[int]:
        """The smallest hashes, which stand for all in `merge`."""
        return sorted(self._smallest)[: 2 * self.MOST]

    def __len__(self) -> int:
        if self._below == _HASHES:
            return len(self._smallest)
        return round(len(self._smallest) * (_HASHES) / self._below)
