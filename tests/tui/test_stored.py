"""The Overview over an etcd that others use: what is stored, and what LISTs of it would cost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ktui.contract.events import AnyEvent, CacheStatus, EtcdProgress, Prefix, ServerInfo
from ktui.contract.events.live import ClientShare, LiveStatus, ResourceAsked
from ktui.tui.app import KtuiApp
from tests.unit.live.folded import recorded_events

from .asking import sizes
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app, until_said

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]
AT = 1_790_000_000.0


def foreign_events() -> list[AnyEvent]:
    """The demo's etcd as if another cluster depended on it, before any request."""
    found: list[AnyEvent] = []
    for event in demo_events():
        if isinstance(event, ServerInfo):
            found.append(replace(event, etcd_kind="external", name="etcd-1", writable=False))
        elif isinstance(event, (Prefix, CacheStatus)):
            found.append(event)
    size = EtcdProgress(at=AT, head=48_213, compact=45_000, db_bytes=9_000_000, in_use_bytes=3_500_000)
    return [*found, size]


@sizes(SMALL, NORMAL, WIDE)
def test_lists(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("LISTs that anyone could send", "reads 3,000 objects", "5.5 MB, 61%")
    assert snap_compare(still_app(foreign_events()), says=says, press=("down", "up"), terminal_size=size)


async def seen(app: KtuiApp, *keys: str, says: str) -> None:
    async with app.run_test(size=NORMAL) as pilot:
        await until_said(pilot, "LISTs that anyone could send", "reads 3,000 objects")
        await pilot.press(*keys)
        await until_said(pilot, says)


async def test_enter_takes_the_list_to_the_lab() -> None:
    await seen(still_app(foreign_events()), "enter", says="46607")


async def test_v_turns_to_the_requests_and_back() -> None:
    await seen(still_app(foreign_events()), "v", says="no requests yet")
    await seen(still_app(foreign_events()), "v", "v", says="LISTs that anyone could send")


async def test_versions_takes_the_list_under_the_cursor() -> None:
    await seen(still_app(foreign_events()), "8", says="/api/v1/pods?resourceVersion=46607")


async def test_over_an_etcd_of_ktui_s_own_it_opens_on_the_requests() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        assert "LISTs that anyone could send" not in shown(app)


async def test_t_turns_to_the_tables_that_are_read_on_request() -> None:
    await seen(still_app(foreign_events()), "t", says="--follow-audit who asks")
    await seen(still_app(foreign_events()), "t", "t", says="x reads every value once")
    await seen(still_app(foreign_events()), *["t"] * 5, says="a second by the mean size")


def combined_events() -> list[AnyEvent]:
    """The same etcd with the metrics and the audit log of a cluster beside it."""
    clients = [
        ClientShare("inventory-export/v1.2 ops/inventory", 410),
        ClientShare("kubectl/v1.36.2 jane", 55),
    ]
    asked = ResourceAsked(at=AT, resource="pods", requests=500, lists=480, span=720.0, clients=clients)
    metrics = [event for event in recorded_events() if not isinstance(event, ServerInfo)]
    return [*foreign_events(), *metrics, asked]


@sizes(SMALL, NORMAL, WIDE)
def test_sources(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("a audit log 12m", "480 LISTs, 500 requests", "inventory-export/v1.2 ops")
    assert snap_compare(still_app(combined_events()), says=says, press=("down", "up"), terminal_size=size)


async def test_a_source_that_fails_is_named_and_the_others_go_on() -> None:
    gone = LiveStatus(
        at=AT, source="audit log", problem="/var/log/audit.log cannot be read: Permission denied"
    )
    await seen_combined(gone, says="no new figures: audit log: /var/log/audit.log cannot be read")


async def seen_combined(*events: AnyEvent, says: str) -> None:
    app = still_app([*combined_events(), *events])
    async with app.run_test(size=NORMAL) as pilot:
        await until_said(pilot, "a audit log 12m", says)


async def test_enter_goes_to_the_keys_of_a_resource_of_the_sources() -> None:
    app = still_app(combined_events())
    async with app.run_test(size=NORMAL) as pilot:
        await until_said(pilot, "a audit log 12m")
        await pilot.press("enter")
        await until_said(pilot, "u refresh")


async def test_a_snapshot_has_no_churn() -> None:
    events = [
        replace(event, etcd_kind="snapshot") if isinstance(event, ServerInfo) else event
        for event in foreign_events()
    ]
    await seen(still_app(events), *["t"] * 4, says="LISTs that anyone could send")
