"""Divide seats between levels that lend to each other, by demand and within each level's bounds.

Upstream: util/flowcontrol/conc_alloc.go; KEP-1040 has the reasons. Each level gets the same fraction of its
target, cut to its bounds; the fraction is the one at which the seats add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
    """Divide `total` seats; raise ValueError if the bounds do not allow it."""
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
