"""Priority levels: their seats by shares, lent every ten seconds (util/flowcontrol/apf_controller.go)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ktui.flowcontrol.fair_queues import FairQueues, Later
from ktui.flowcontrol.utilization import Demand, smoothed
from ktui.kube.flow_rules import EXEMPT, LevelSpec
from ktui.kube.flow_schemas import PriorityLevel

LONGEST = 32


class RetryAfter:
    """Retry-After of a level's rejected requests: a second, and more while rejections continue.

    Upstream: util/flowcontrol/dropped_requests_tracker.go (1.28 and later). Times are in whole seconds.
    """

    seconds = 1
    _raised = _now = _count = 0

    def __init__(self) -> None:
        self._history: deque[tuple[int, int]] = deque(maxlen=LONGEST)

    def rejected(self, second: int) -> int:
        """Count a rejection; return the seconds that its client has to wait."""
        if second == self._now:
            self._count += 1
            return self.seconds
        self._history.append((self._now, self._count))
        self._now, self._count = second, 1
        recent = sum(count for at, count in self._history if second - self.seconds <= at < second)
        if second - self._raised >= self.seconds and recent >= 3 * self.seconds:
            self.seconds, self._raised = min(LONGEST, 2 * self.seconds), second
        elif recent < self.seconds and self.seconds > 1:
            self.seconds -= 1
        return self.seconds


_SMALLEST_TARGET = 0.001
_STEPS = 100  # steps of a bisection, beyond the precision of a float


class SeatClaim(NamedTuple):
    """The seats that a level claims, from `lower` to `upper`; `target` is at least `lower`."""

    target: float
    lower: float
    upper: float

    def at(self, fraction: float) -> float:
        return max(self.lower, min(self.upper, fraction * max(self.target, _SMALLEST_TARGET)))


class SeatDivision(NamedTuple):
    seats: list[float]
    fraction: float  # fraction of its target that each level gets, unless a bound cuts it


def allocate(total: int, claims: Sequence[SeatClaim]) -> SeatDivision:
    """Divide `total` seats between levels that lend to each other. Raises ValueError if the bounds forbid it.

    Upstream: util/flowcontrol/conc_alloc.go; KEP-1040 has the reasons. Each level gets the same fraction of
    its target, cut to its bounds; the fraction is the one at which the seats add up.
    """
    least, most = sum(claim.lower for claim in claims), sum(claim.upper for claim in claims)
    if not least <= total <= most:
        raise ValueError(f"{total} seats are outside the bounds {least:g} and {most:g}")
    low, high = 0.0, max(claim.upper / max(claim.target, _SMALLEST_TARGET) for claim in claims)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if sum(claim.at(middle) for claim in claims) < total:
            low = middle
        else:
            high = middle
    return SeatDivision([claim.at(high) for claim in claims], high)


ADJUSTMENT_SECONDS = 10.0


class StoredSpec(NamedTuple):
    """A spec and the uid of its object, "" if it is not stored."""

    spec: LevelSpec
    uid: str = ""


class Level:
    """One level's limits in seats.

    `nominal` by its shares, `lower` and `upper` after lending and borrowing; `current` applies now.
    """

    def __init__(self, name: str, spec: LevelSpec, clock: Callable[[], float], later: Later) -> None:
        self.name = name
        self.spec = spec
        self.uid = ""
        self.queues = FairQueues(clock, later, exempt=spec.type == EXEMPT)
        self.nominal = self.lower = self.upper = self.current = 0
        self.demand = Demand(0.0, 0.0, 0)
        self.smoothed = self.target = 0.0
        self.quiescing = False  # still has requests, but is no longer configured
        self.retry_after = RetryAfter()

    @property
    def exempt(self) -> bool:
        return self.spec.type == EXEMPT

    @property
    def least(self) -> int:
        """The fewest seats that the level has now: its recent demand, within its own limits."""
        highest = self.demand.highest
        return max(self.lower, highest if self.exempt else min(self.nominal, highest))

    def described(self) -> PriorityLevel:
        """Return the level for the work estimate and the headers of its requests."""
        queuing = self.spec.queuing
        hand = queuing.hand_size if queuing is not None else 0
        return PriorityLevel(self.name, self.spec.shares, hand, self.nominal or None, self.uid)


class Levels:
    """All levels of a server with `total` seats."""

    def __init__(self, total: int, clock: Callable[[], float], later: Later) -> None:
        self._total = total
        self._clock = clock
        self._later = later
        self.by_name: dict[str, Level] = {}
        self.fraction = 0.0  # fraction of its target that each level got at the last adjustment

    def configure(self, wanted: Mapping[str, StoredSpec]) -> None:
        """Use these levels; others keep their seats until their requests have ended."""
        before = self.by_name
        now: dict[str, Level] = {}
        for name, (spec, uid) in wanted.items():
            level = before.get(name) or Level(name, spec, self._clock, self._later)
            level.spec, level.uid, level.quiescing = spec, uid, False
            now[name] = level
        for name, level in before.items():
            if name not in now and not level.queues.idle:
                level.quiescing = True
                now[name] = level
        shares = sum(level.spec.shares for level in now.values())
        for level in now.values():
            limits = level.spec.limits
            level.nominal = math.ceil(self._total * level.spec.shares / shares) if shares else 0
            percent = limits.borrowing_limit_percent
            borrowing = self._total if percent is None else round(level.nominal * percent / 100)
            level.lower = level.nominal - round(level.nominal * limits.lendable_percent / 100)
            level.upper = level.nominal + borrowing
            if level.name not in before:
                level.current = level.nominal - (level.nominal - level.lower) // 2
        self.by_name = now
        self._borrow()

    def drop_idle(self) -> None:
        """Remove levels that are no longer configured once their requests have ended."""
        gone = [level for level in self.by_name.values() if level.quiescing and level.queues.idle]
        if gone:
            kept = {name: level for name, level in self.by_name.items() if level not in gone}
            self.configure({n: StoredSpec(level.spec, level.uid) for n, level in kept.items()})

    def adjust(self) -> None:
        """Lend seats by the demand since the last adjustment."""
        for level in self.by_name.values():
            level.demand = level.queues.take_demand()
            level.smoothed = smoothed(level.smoothed, level.demand)
        self._borrow()

    def _borrow(self) -> None:
        limited = [level for level in self.by_name.values() if not level.exempt]
        exempt = [level for level in self.by_name.values() if level.exempt]
        total = sum(level.nominal for level in self.by_name.values())
        for level in exempt:
            level.current = level.least
        left = total - sum(level.current for level in exempt)
        for level, seats in zip(limited, self._divided(limited, left, total), strict=True):
            level.current = seats
        for level in self.by_name.values():
            level.queues.configure(level.spec.queuing, level.current, max(1, round(self._total / 10)))

    def _divided(self, limited: list[Level], left: int, total: int) -> Iterable[int]:
        lower, least = sum(level.lower for level in limited), sum(level.least for level in limited)
        self.fraction = 0.0
        for level in limited:
            level.target = max(float(level.least), level.smoothed)
        if left <= lower:  # exempt requests have taken the other seats
            return [level.lower for level in limited]
        if left <= least:
            part = (left - lower) / (least - lower)
            return [level.lower + round((level.least - level.lower) * part) for level in limited]
        try:
            found = allocate(total, [SeatClaim(lv.target, lv.least, lv.upper) for lv in limited])
        except ValueError:  # levels that may not borrow enough to use all seats
            return [level.current for level in limited]
        self.fraction = found.fraction
        return [round(seats) for seats in found.seats]
