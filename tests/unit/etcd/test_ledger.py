"""The account of RPCs: totals at once, telemetry at most four times a second."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from ktui.contract.events import AnyEvent, EtcdHealth, EtcdProgress, EtcdUsage
from ktui.etcd.errors import UnreachableError
from ktui.etcd.ledger import Ledger, LedgerEntry
from ktui.telemetry import bus as module
from ktui.telemetry.bus import Bus


class Watched(Bus):
    """Remembers what is published."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[AnyEvent] = []
        self.arrived = asyncio.Event()
        self.watched = True

    def publish(self, event: AnyEvent) -> None:
        self.seen.append(event)
        self.arrived.set()

    def of(self, kind: type[AnyEvent]) -> list[AnyEvent]:
        return [event for event in self.seen if isinstance(event, kind)]


async def burst() -> None:
    bus = Watched()
    ledger = Ledger(bus)
    for revision in range(1, 1001):
        ledger.book(LedgerEntry("range", "list", sent=10, received=100, revision=revision), str)
    assert (ledger.rpcs, ledger.sent_bytes, ledger.received_bytes, ledger.head) == (
        1000,
        10_000,
        100_000,
        1000,
    )
    first = len(bus.of(EtcdUsage))
    assert first == 1
    bus.arrived.clear()
    async with asyncio.timeout(60):
        await bus.arrived.wait()
    assert bus.of(EtcdUsage)[first:] == [EtcdUsage(rpcs=1000, sent_bytes=10_000, received_bytes=100_000)]
    assert bus.of(EtcdProgress)[-1] == EtcdProgress(head=1000)
    ledger.close()
    assert len(bus.of(EtcdUsage)) == 2


def test_a_burst_is_told_in_two_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes: the clock stands still."""
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 100.0))
    asyncio.run(burst())


async def outage() -> None:
    bus = Watched()
    ledger = Ledger(bus)
    for sentence in ("gone", "gone", "still gone"):
        ledger.failed(UnreachableError(sentence))
    ledger.failed(ValueError("not etcd's fault"))
    ledger.answered()
    ledger.answered()
    for alarm in ("no space", "no space"):
        ledger.saw_alarm(alarm)
    ledger.failed(UnreachableError("gone"))
    ledger.answered()
    ledger.saw_alarm("")
    for recheck_at in (600.0, 600.0, 0.0):
        ledger.saw_streams(recheck_at)
    assert bus.of(EtcdHealth) == [
        EtcdHealth(ok=False, detail="gone"),
        EtcdHealth(ok=False, detail="still gone"),
        EtcdHealth(ok=True),
        EtcdHealth(ok=True, alarm="no space"),
        EtcdHealth(ok=False, detail="gone", alarm="no space"),
        EtcdHealth(ok=True, alarm="no space"),
        EtcdHealth(ok=True),
        EtcdHealth(ok=True, stream_recheck_at=600.0),
        EtcdHealth(ok=True),
    ]


def test_outages_and_alarms_are_told_when_they_begin_change_and_end() -> None:
    asyncio.run(outage())
