"""The Overview: what it says first, then its picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from ktui.contract.events import Prefix, RequestFinished, RequestRouted, RequestStarted

from .asking import sizes
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app, until_said

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]


@sizes(SMALL, NORMAL, WIDE, pictured=[NORMAL])
def test_overview(snap_compare: Snap, size: tuple[int, int]) -> None:
    revision = "revision 48,213" if size == WIDE else "rev 48,213"
    says = (revision, "RV progress", "waiting for the watch cache")
    assert snap_compare(still_app(demo_events()), says=says, terminal_size=size)


def test_a_request_that_waited_for_the_cache(snap_compare: Snap) -> None:
    says = ("why  LIST pods ?app=api", "3,000 scanned → 250")
    assert snap_compare(still_app(demo_events()), says=says, press=("up", "up"), terminal_size=SMALL)


def test_filtered(snap_compare: Snap) -> None:
    keys = ("slash", *"route:E ms>10", "enter")
    says = ("/route:E ms>10", "2 shown, ")
    assert snap_compare(still_app(demo_events()), says=says, press=keys, terminal_size=NORMAL)


HOSTILE = [
    Prefix(prefix="/registry/[red]/", count=1, bytes=20),
    RequestStarted(
        id=99, at=1_790_000_011.0, verb="GET", path="/api/v1/namespaces/a/pods/x[red]y",
        query="labelSelector=a%3D%1B%5B31mred", resource="pods", namespace="a", name="x[red]y",
        client="[b]evil\x1b[2J", user_agent="[/registry/pods]",
    ),
    RequestRouted(id=99, route="cache", reason_id="c.rv0", reason="[/x] \u202e reversed", steps=[]),
    RequestFinished(id=99, status=404, route="cache", ms=0.2, error='pods "x[red]y" not found \x07'),
]  # fmt: skip


def test_hostile_text(snap_compare: Snap) -> None:
    says = ("x[red]y", "[b]evil␛")
    assert snap_compare(still_app([*demo_events(), *HOSTILE]), says=says, terminal_size=NORMAL)


async def test_hostile_text_is_shown_as_it_is() -> None:
    app = still_app([*demo_events(), *HOSTILE])
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        text = shown(app)
    assert "a/x[red]y" in text and "[red]" in text and "␛[31mred" in text
    assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text


async def test_every_panel_of_the_mode_is_there_at_80_columns() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        text = shown(app)
    for title in ("/registry", "watch caches", "RV progress", "requests", "why"):
        assert title in text, title
    assert all(key in text for key in ("? help", "1–8 screens", ": go", "q quit")), text


async def test_the_header_tells_whose_control_plane_this_is() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        head = shown(app).splitlines()[0]
    assert " ".join(head.split()) == (
        "ktui › Overview · demo · etcd 3.5.1 · kube 1.36 · writable "
        "rev 48,213 +12/s ktui's load on etcd 212 RPCs · 4.1 MB"
    )


async def test_enter_takes_the_request_to_its_own_screen() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("up", "up", "enter")
        await pilot.pause()
        assert app.current_mode == "requests"
        assert app.screen.log_view.table.row.id == 14


def read_of(number: int, at: float) -> RequestStarted:
    return RequestStarted(
        id=number, at=at, verb="LIST", path="/api/v1/nodes", resource="nodes", namespace="", name="",
        query="", client="late", user_agent="late/1",
    )  # fmt: skip


async def test_why_stays_with_its_request_until_the_cursor_moves() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        before = app.screen.subject.id
        app.feed([read_of(900 + number, 1_790_000_020.0 + number) for number in range(3)])
        app.tick()
        await pilot.pause()
        assert app.screen.requests.row.id == 902 and app.screen.subject.id == before
        assert app.screen.selected_object()[0] == f"request {before}"
        await until_said(pilot, "why · pinned ")
        await pilot.press("up")
        assert app.screen.subject.id == 901
        assert "pinned" not in shown(app)
        await pilot.press("end")
        assert app.screen.subject.id == 902


async def test_a_small_terminal_is_asked_to_be_larger() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=(40, 10)) as pilot:
        await until_said(pilot, "This terminal is too small: 40×10", "q leaves ktui")
        assert "requests" not in shown(app)
        await pilot.resize_terminal(*SMALL)
        app.tick()
        await until_said(pilot, "requests · C cache")
        assert "too small" not in shown(app)


async def test_the_filling_of_a_demo_is_told_until_it_is_complete() -> None:
    app = still_app(demo_events())
    own = app.state.server
    assert own is not None
    app.feed([replace(own, filling="43 %, 860 of 2,000 objects, now pods")])
    async with app.run_test(size=SMALL) as pilot:
        app.tick()
        await until_said(pilot, "filling the demo cluster  43 %, 860 of 2,000 objects, now pods")
        app.feed([own])
        app.tick()
        await pilot.pause()
        assert "filling" not in shown(app)
