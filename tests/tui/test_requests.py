"""The Requests screen: the log and one request taken apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ktui.contract.events import ChainStage, RequestFinished, RequestStarted

from .asking import sizes
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("requests")]

Snap = Callable[..., bool]
TO_EXACT = ("2", *["up"] * 9)  # argocd's LIST of secrets at an old revision


@sizes(SMALL, NORMAL, WIDE, pictured=[NORMAL])
def test_requests(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = "412 scanned → 412 "
    assert snap_compare(still_app(demo_events()), says=says, press=TO_EXACT, terminal_size=size)


def test_consistent_read(snap_compare: Snap) -> None:
    says, press = "2,900 scanned → 2,900 ", ("2", *["up"] * 7)
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=WIDE)


def test_phases_at_80_columns(snap_compare: Snap) -> None:
    says, press = ("decode", "2.2 ms"), (*TO_EXACT, "right", "right")
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=SMALL)


@sizes(SMALL, NORMAL, WIDE)
def test_the_request_chain(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("authentication", "workload-low", "ClusterRole", "etcd")
    assert snap_compare(still_app(demo_events()), says=says, press=(*TO_EXACT, "right"), terminal_size=size)


async def test_a_refused_write_shows_the_stage_that_refused_it() -> None:
    events = demo_events()
    stages = [
        ChainStage("authentication", "bob (\x1b[31m)", 0.1),
        ChainStage("authorization", "refused: pods is forbidden", 0.05),
    ]
    started = RequestStarted(
        at=events[-1].at,
        id=900,
        verb="POST",
        path="/api/v1/namespaces/shop/pods",
        query="",
        resource="pods",
        namespace="shop",
        name="",
        client="evil",
        user_agent="evil/1",
        chain=stages,
    )
    finished = RequestFinished(id=900, status=403, route="none", ms=0.1, error="pods is forbidden")
    app = still_app([*events, started, finished])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2", "w", "end")
        await pilot.pause()
        text = shown(app)
        await pilot.press("c", "c")  # its URL, and then no command: that would send a GET
    assert "refused: pods is forbidden" in text and "answer" in text
    assert "only reads have a command: no body is kept" in text
    assert "\x1b" not in text
    assert "\t" in app.clipboard and "curl" not in app.clipboard


async def test_each_panel_is_one_key_away_at_80_columns() -> None:
    app = still_app(demo_events())
    seen = []
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press(*TO_EXACT)
        for _ in range(6):
            await pilot.pause()
            seen.append(shown(app))
            await pilot.press("right")
    for text, telling in zip(
        seen,
        ("4 seats", "authorization", "decode", "matched", "range_end:", "kubectl get --raw"),
        strict=True,
    ):
        assert telling in text


async def test_the_detail_tells_walk_cost_and_the_cheaper_form() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        await pilot.press(*TO_EXACT)
        await pilot.pause()
        text = shown(app)
    assert "older than every snapshot?" in text and "shouldDelegateList" in text
    assert "412 scanned → 412 returned" in text and "4 seats" in text
    assert "cheaper: resourceVersionMatch=NotOlderThan" in text
    assert "1.24 E · 1.30 E · 1.31 E · 1.34 E · 1.36 E" in text


async def test_pause_holds_the_table_and_space_lets_it_go_on() -> None:
    app = still_app(demo_events()[:-20])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("2", "space")
        before = len(app.screen.log_view.table.rows)
        app.feed(demo_events()[-20:])
        app.tick()
        await pilot.pause()
        assert len(app.screen.log_view.table.rows) == before
        assert "‖ paused" in shown(app) and "following" not in shown(app)
        await pilot.press("1", "2")
        await pilot.pause()
        assert "following" not in shown(app)
        await pilot.press("space")
        await pilot.pause()
        assert "following" in shown(app)
        assert len(app.screen.log_view.table.rows) > before
