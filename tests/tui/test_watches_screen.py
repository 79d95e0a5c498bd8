"""The Watches screen: who watches, how they fare, what one event takes."""

from __future__ import annotations

import pytest

from ktui.contract.events import FanOut, WatcherClosed, WatcherOpened, WatcherState

from .asking import Snap, sizes, until
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("watches")]

SLOW = ("6", *["down"] * 4)  # argocd, with most of its buffer waiting
HOSTILE = "x[red]y\x1b[31m\u202e"


@sizes(SMALL, NORMAL, WIDE)
def test_watches(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("12 open · 2 closed", "argocd  WATCH pods  ▲ slow")
    assert snap_compare(still_app(demo_events()), says=says, press=SLOW, terminal_size=size)


def test_fan_out_at_80_columns(snap_compare: Snap) -> None:
    says, press = "7 watching → 7 matched → 7 delivered", (*SLOW, "right")
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=SMALL)


def test_deleted_at_80_columns(snap_compare: Snap) -> None:
    says, press = "DELETED team-03/job-7x2vq", (*SLOW, "left")
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=SMALL)


def test_cut_off(snap_compare: Snap) -> None:
    says = "prometheus  WATCH pods  ✕ cut off"
    assert snap_compare(still_app(demo_events()), says=says, press=("6", "end"), terminal_size=NORMAL)


def test_hostile_text(snap_compare: Snap) -> None:
    events = [
        WatcherOpened(
            at=1.0, id=1, resource=HOSTILE, since=HOSTILE, client=HOSTILE, namespace=HOSTILE,
            selector=HOSTILE, form=HOSTILE, route="cache",
        ),
        FanOut(
            at=1.0, resource=HOSTILE, change="DELETED", rv=9, previous_rv=4, namespace=HOSTILE, name=HOSTILE,
            watchers=1, concerned=1, delivered=1, plain_forms=1, encodings=1,
        ),
        WatcherClosed(at=2.0, id=1, resource=HOSTILE, delivered=1, cause=HOSTILE),
    ]  # fmt: skip
    says = ("x[red]y␛[31m", "DELETED")
    assert snap_compare(still_app(events), says=says, press=("6",), terminal_size=NORMAL)


async def test_the_panels_follow_the_cursor() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("6")
        await pilot.pause()
        assert "fan-out of one event · pods" in shown(app)
        await pilot.press(*["down"] * 5)
        await pilot.pause()
        text = shown(app)
        assert "fan-out of one event · ciliumendpoints" in text and "ADDED team-01/web-0101" in text
        await pilot.press(*["down"] * 2)
        await pilot.pause()
        assert "no event of services yet" in shown(app)


async def test_a_watcher_moves_while_it_is_looked_at() -> None:
    app = still_app([WatcherOpened(at=1.0, id=1, resource="pods", since="5", client="kubelet")])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("6")
        await pilot.pause()
        assert "catching up" in shown(app)
        app.feed(
            [WatcherState(at=2.0, id=1, resource="pods", buffered=7, capacity=10, delivered=1_234, live=True)]
        )
        app.tick()
        await pilot.pause()
        text = shown(app)
        assert "▲ slow" in text and "7 of 10 wait" in text and "1,234 events" in text
        app.feed([WatcherClosed(at=3.0, id=1, resource="pods", delivered=1_240, cause="too slow")])
        app.tick()
        await pilot.pause()
        text = shown(app)
        assert "0 open · 1 closed" in text and "cut off: too slow" in text and "read too slowly" in text


async def test_enter_shows_the_request_of_a_watcher() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("6", *["down"] * 10, "enter")
        await until(pilot, lambda: app.current_mode == "requests")
        await pilot.pause()
        assert app.screen.log_view.table.row.started.verb == "WATCH"
        await pilot.press("6", "home", "enter")
        await pilot.pause()
        assert app.current_mode == "watches", "its request began before this dashboard listened"


@pytest.mark.parametrize(
    ("ended", "told"),
    [(0, "1 open "), (2, "1 open · 2 closed in the last minute "), (500, "1 open · last 200 closed ")],
)
async def test_the_title_says_how_many_have_ended_of_those_that_are_kept(ended: int, told: str) -> None:
    opened = [WatcherOpened(at=1.0, id=n, resource="pods", since="5", client="a") for n in range(ended + 1)]
    closed = [WatcherClosed(at=2.0, id=n, resource="pods", delivered=1) for n in range(1, ended + 1)]
    app = still_app([*opened, *closed])
    async with app.run_test(size=NORMAL) as pilot:
        await app.action_go("watches")
        await pilot.pause()
        app.tick()
        await pilot.pause()
        assert f"watches · {told}" in shown(app)
