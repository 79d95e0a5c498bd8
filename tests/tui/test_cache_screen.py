"""The Cache screen: all caches, and inside one."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.contract.events import CacheStatus
from ktui.tui.app import KtuiApp
from ktui.tui.cache.screen import CacheScreen
from ktui.tui.dialogs.text import TextScreen

from .asking import SIZES, Snap, asking_app, sizes, until, until_shown
from .fake_server import HEAD, FakeServer, Reply
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app, until_said

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("cache")]


def screen_of(app: KtuiApp) -> CacheScreen:
    assert isinstance(app.screen, CacheScreen)
    return app.screen


async def put_cursor(pilot: Any, resource: str) -> CacheScreen:
    await pilot.press("3")
    await until(pilot, lambda: isinstance(pilot.app.screen, CacheScreen) and pilot.app.screen.table.total > 0)
    screen = screen_of(pilot.app)
    screen.table.move_to([row.resource for row in screen.table.rows].index(resource))
    await pilot.pause()
    return screen


async def look_into_pods(pilot: Any) -> None:
    screen = await put_cursor(pilot, "pods")
    await pilot.press("enter")
    await until(pilot, lambda: screen.view.objects.total == 3_000 and screen.view.events.total == 200)
    await until_shown(pilot, "3,000 objects", "web-0000", "200 newest of 640", "48,102 ~ MODIFIED")


# What it does.


async def test_every_resource_has_a_row_and_cold_ones_say_how_to_warm_them() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "ciliumnodes.cilium.io")
        states = {row.resource: row.cache.state for row in screen.table.rows}
        assert states["pods"] == "ready"
        assert states["ciliumidentities.cilium.io"] == "initializing"
        said = "w      warms it: 100 keys, 310 kB read from etcd, in pages"
        await until(pilot, lambda: said in shown(app))
        await pilot.press("w")
        await until(pilot, lambda: bool(server.asked))
    assert server.asked == ["POST /ktui/v1/caches/ciliumnodes.cilium.io/warm {}"]


async def test_only_a_cold_cache_is_warmed() -> None:
    server = FakeServer()
    async with asking_app(server).run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "pods")
        await pilot.press("w")
        await pilot.pause()
    assert server.asked == []


async def test_a_refused_warming_is_told() -> None:
    server = FakeServer()
    server.warm_reply = Reply(404, "no such cache")
    app = asking_app(server)
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await put_cursor(pilot, "ciliumnodes.cilium.io")
        await pilot.press("w")
        await until(pilot, lambda: any("no such cache" in note.message for note in app._notifications))


def filling(app: KtuiApp, **about: Any) -> CacheStatus:
    return CacheStatus(resource="ciliumnodes.cilium.io", state="initializing", at=app.state.now + 1, **about)


async def test_a_filling_cache_tells_its_progress_and_can_be_cancelled() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await put_cursor(pilot, "ciliumnodes.cilium.io")
        await pilot.press("x")  # nothing to cancel yet
        app.feed([filling(app)])
        app.tick()
        app.screen.paint()  # type: ignore[attr-defined]
        await until_shown(pilot, "queued: only a few caches", "x      stops filling")
        app.feed([filling(app, loaded=42, loaded_bytes=130_000, expected=100)])
        app.tick()
        app.screen.paint()  # type: ignore[attr-defined]
        await until_shown(pilot, " 42%  42 of 100 objects · 130 kB read")
        await pilot.press("x")
        await until(pilot, lambda: any("cancelled" in note.message for note in app._notifications))
    assert server.asked == ["DELETE /ktui/v1/caches/ciliumnodes.cilium.io/warm {}"]


async def test_lag_follows_the_head() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods")
        before = screen.table.row
        assert before is not None
        assert before.lag == 1
        rv = before.row.rv + 1
        app.feed([CacheStatus(resource="pods", state="ready", rv=rv, objects=3_001, at=app.state.now + 1)])
        app.tick()
        await pilot.pause()
        after = screen.table.row
        assert after is not None
        assert (after.resource, after.lag, after.cache.objects) == ("pods", 0, 3_001)


async def test_a_cache_opens_page_by_page() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        screen = screen_of(app)
        pages = [path for path in server.asked if "/objects?" in path]
        assert pages == ["/ktui/v1/caches/pods/objects?offset=0&limit=200"]
        await pilot.press("end")
        await until(pilot, lambda: getattr(screen.view.objects.row, "name", "") == "web-2999")
        assert len([path for path in server.asked if "/objects?" in path]) == 2
        assert f"pods · 3,000 objects at RV {HEAD:,}" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert screen.inside == ""
        assert screen.table.has_focus


async def test_the_server_filters_what_is_paged() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        await pilot.press("slash", *"web-29", "enter")
        await until(pilot, lambda: screen_of(app).view.objects.total == 100)
        assert server.asked[-1].endswith("&filter=web-29")


async def test_an_open_cache_that_moves_is_read_again() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        asked = len(server.asked)
        app.feed([CacheStatus(resource="pods", state="ready", rv=50_000, at=app.state.now + 1)])
        for _ in range(5):
            app.tick()
        await until(pilot, lambda: len(server.asked) >= asked + 2)
        assert {path.partition("?")[0].rpartition("/")[2] for path in server.asked[asked:]} == {
            "objects",
            "events",
        }


async def test_an_unreachable_server_is_said_in_place() -> None:
    server = FakeServer()
    server.failing = "no server answers at http://127.0.0.1:1 (connection refused)"
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "pods")
        await pilot.press("enter")
        await until(pilot, lambda: "no server answers" in shown(app))


async def test_names_that_would_bite_are_text() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        text = shown(app)
        assert text.count("x[red]y␛[31m") == 2
        assert "\x1b" not in text


# What it looks like.


@sizes(SMALL, NORMAL, WIDE, pictured=[SMALL])
def test_caches(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def rest(pilot: Any) -> None:
        await put_cursor(pilot, "ciliumidentities.cilium.io")

    says = ("loading 60%", "96 of 160 objects", "x      stops filling")
    assert snap_compare(asking_app(), says=says, run_before=rest, terminal_size=size)


async def test_the_largest_caches_are_on_top_as_on_the_overview() -> None:
    app = asking_app()
    async with app.run_test(size=WIDE) as pilot:
        screen = await put_cursor(pilot, "pods")
        counts = [row.cache.objects for row in screen.table.rows if row.cache.objects]
        assert len(counts) > 5 and counts == sorted(counts, reverse=True)


@SIZES
def test_filling(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def fill(pilot: Any) -> None:
        await put_cursor(pilot, "ciliumnodes.cilium.io")
        pilot.app.feed([filling(pilot.app, loaded=42, loaded_bytes=130_000, expected=100)])
        pilot.app.tick()
        pilot.app.screen.paint()

    says = (" 42%  42 of 100 objects · 130 kB read", "stops filling")
    assert snap_compare(asking_app(), says=says, run_before=fill, terminal_size=size)


@SIZES
def test_inside(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("3,000 objects at RV 48,102", "team-10", "48,102 ~ MODIFIED")
    assert snap_compare(asking_app(), says=says, run_before=look_into_pods, terminal_size=size)


def test_reading(snap_compare: Snap) -> None:
    server = FakeServer()

    async def open_pods(pilot: Any) -> None:
        server.gate.clear()
        await put_cursor(pilot, "pods")
        await pilot.press("enter")
        await until(pilot, lambda: len(server.asked) == 2)

    assert snap_compare(asking_app(server), says="reading …", run_before=open_pods, terminal_size=SMALL)


async def test_an_object_leads_to_its_key_and_shows_itself() -> None:
    app = asking_app(FakeServer())
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert isinstance(app.screen, TextScreen) and '"kind": "Pod"' in app.screen.text
        await pilot.press("escape", "enter")
        await until(pilot, lambda: app.current_mode == "etcd")
        await until_shown(pilot, "etcd › pods/team-00 › web-0000")


async def test_an_event_of_the_buffer_shows_its_object_as_it_was_then() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await look_into_pods(pilot)
        await pilot.press("tab")
        screen = screen_of(app)
        assert screen.view.events.has_focus and screen.view.events.row is not None
        at = screen.view.events.row.revision - (screen.view.events.row.type == "DELETED")
        await pilot.press("y")
        await until(pilot, lambda: f"revision={at}" in server.asked[-1])


async def test_y_shows_the_state_of_a_cache_as_json() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("3")
        await until_said(pilot, "ciliumendpoints")
        await pilot.press("y")
        await until_said(pilot, '"state": "ready"')
