"""Which events share a lease."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ktui.storage.writer import MAX_OBJECTS, Leases, reuse_seconds


class Granting:
    """Grants leases 1, 2, 3 …"""

    def __init__(self) -> None:
        self.granted: list[int] = []

    async def grant_lease(self, ttl: int) -> int:
        self.granted.append(ttl)
        return len(self.granted)


@pytest.mark.parametrize(("ttl", "reuse"), [(3600, 60), (600, 30), (60, 3), (10, 0), (86_400, 60)])
def test_reuse(ttl: int, reuse: int) -> None:
    assert reuse_seconds(ttl) == reuse


def leases_at(times: list[float], ttl: int = 3600) -> tuple[list[int], list[int]]:
    """Leases of objects that come at `times` (seconds), and the TTLs granted."""
    client: Any = Granting()
    clock = iter(times)
    leases = Leases(client, lambda: next(clock))

    async def run() -> list[int]:
        return [await leases.lease_for(ttl) for _ in times]

    return asyncio.run(run()), client.granted


def test_a_lease_is_shared_for_the_reuse_time() -> None:
    assert leases_at([0, 30, 59, 60, 100, 119, 121]) == ([1, 1, 1, 2, 2, 2, 3], [3660] * 3)


def test_a_lease_has_at_most_a_thousand_objects() -> None:
    given, granted = leases_at([0.0] * (MAX_OBJECTS + 1))
    assert given == [1] * MAX_OBJECTS + [2] and len(granted) == 2


def test_a_short_ttl_is_never_shared() -> None:
    assert leases_at([0, 0, 0], ttl=10) == ([1, 2, 3], [10, 10, 10])
