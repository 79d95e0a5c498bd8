"""The tree of prefixes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ktui.contract.events import EtcdHealth, EtcdProgress
from ktui.tui.screen_bases import server_screen

from .asking import asking_app, until
from .etcd import FAILING, put_cursor, screen_of, show_first_key
from .fake_server import FakeServer
from .still import NORMAL, shown

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("etcd")]

ALL_OF_ETCD = {
    "revision": 7,
    "children": [
        {"prefix": "/registry/", "count": 12_000, "bytes": 40_000_000, "exact": False},
        {"prefix": "/service/", "count": 3, "bytes": 120, "leaf": True},
        {"prefix": "x", "count": 1, "bytes": 12, "leaf": True},
    ],
}


async def test_the_tree_opens_lazily_and_closes() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        assert [path for path in server.asked if "/prefixes" in path] == [
            "/ktui/v1/etcd/prefixes?prefix=/registry/"
        ]
        await pilot.press("enter")
        await until(pilot, lambda: screen.prefixes.table.total == 11 + 12)
        assert "▾ pods/" in shown(app)
        assert "· team-00/" in shown(app)
        await pilot.press("down", "left")
        assert screen.prefixes.table.row is not None
        assert screen.prefixes.table.row.label == "pods/"
        await pilot.press("left")
        await until(pilot, lambda: screen.prefixes.table.total == 11)


async def test_sampled_bytes_are_marked() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "pods/")
        assert "~17.9M" in shown(app)


async def test_a_cursor_on_its_way_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_screen, "SETTLE", 3_600.0)
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: screen_of(app).prefixes.table.total == 11)
        await pilot.press("down", "down", "down", "up", "end")
        await pilot.pause()
    assert server.asked == ["/ktui/v1/etcd/prefixes?prefix=/registry/"]


async def test_a_failure_is_said_and_u_tries_again() -> None:
    server = FakeServer()
    server.failing = FAILING
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: FAILING[:30] in shown(app))
        server.failing = ""
        await pilot.press("u")
        await until(pilot, lambda: screen_of(app).prefixes.table.total == 11)


async def test_a_tree_that_could_not_be_read_is_read_once_etcd_is_back() -> None:
    server = FakeServer()
    server.failing = FAILING
    app = asking_app(server)
    app.feed([EtcdHealth(at=app.state.now + 1, ok=False, detail="gone")])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: FAILING[:30] in shown(app))
        server.failing = ""
        app.tick()
        await pilot.pause()
        assert screen_of(app).prefixes.table.total == 0
        app.feed([EtcdHealth(at=app.state.now + 1, ok=True)])
        app.tick()
        await until(pilot, lambda: screen_of(app).prefixes.table.total == 11)


async def test_it_says_when_etcd_is_asked_for_a_stream_again() -> None:
    """After an Unimplemented, for 10 minutes; not under a version that never asks, nor once etcd streams."""
    app = asking_app()
    said = "this etcd has no RangeStream: collections are read in pages; asked again"

    async def shows(text: str) -> None:
        app.tick()
        await until(pilot, lambda: text in shown(app))

    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        now = app.state.now + 1
        refused = EtcdHealth(at=now, ok=True, stream_recheck_at=now + 600)
        server = app.state.server
        assert server is not None
        app.feed([replace(server, kube_version="1.37"), refused])
        await shows(f"{said} in 10 minutes")
        app.feed([EtcdProgress(at=now + 545, head=1)])
        await shows(f"{said} in 1 minute")
        app.feed([EtcdProgress(at=now + 601, head=2)])
        await shows(f"{said} with the next LIST of etcd")
        app.feed([replace(server, kube_version="1.36")])
        app.tick()
        await until(pilot, lambda: said not in shown(app))
        app.feed([replace(server, kube_version="1.37")])
        await shows(said)
        app.feed([EtcdHealth(at=now + 602, ok=True)])
        app.tick()
        await until(pilot, lambda: said not in shown(app))


async def test_another_server_is_read_from_the_start() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "pods/")
        app.intake.client = other = FakeServer()  # type: ignore[assignment]
        other.gate.clear()
        app.tick()
        await until(pilot, lambda: "/ktui/v1/etcd/prefixes?prefix=/registry/" in other.asked)
        assert screen.value.detail is None and not screen.keys.table.total
        other.gate.set()
        await until(pilot, lambda: screen.value.detail is not None)
        assert [path.partition("?")[0] for path in other.asked] == [
            "/ktui/v1/etcd/prefixes", "/ktui/v1/etcd/keys", "/ktui/v1/etcd/key",
        ]  # fmt: skip


async def test_another_history_of_etcd_is_read_from_the_start() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await show_first_key(pilot, "pods/")
        server.asked.clear()
        app.feed([EtcdProgress(head=7, histories=1)])
        app.tick()
        await until(pilot, lambda: "/ktui/v1/etcd/prefixes?prefix=/registry/" in server.asked)


async def test_the_tree_follows_to_a_key() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "events/")
        await pilot.press("colon", *"etcd /registry/pods/team-01/web-0003", "enter")
        screen = screen_of(app)
        await until(pilot, lambda: screen.prefixes.table.row.label == "team-01/")
        await until(pilot, lambda: screen.keys.table.row is not None)
        await until(pilot, lambda: screen.keys.table.row.key == "/registry/pods/team-01/web-0003")
        assert screen.keys.table.has_focus


async def test_all_of_etcd_and_back() -> None:
    server = FakeServer()
    server.answers["/ktui/v1/etcd/prefixes?prefix="] = ALL_OF_ETCD
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        await pilot.press("a")
        await until(
            pilot,
            lambda: [row.label for row in screen.prefixes.table.rows] == ["/registry/", "/service/", "x"],
        )
        assert "all of etcd" in shown(app)
        await pilot.press("a")
        await until(pilot, lambda: screen.prefixes.table.total == 11)


async def test_an_etcd_without_kubernetes_is_shown_as_it_is() -> None:
    server = FakeServer()
    server.answers["/ktui/v1/etcd/prefixes?prefix=/registry/"] = {"revision": 7, "children": []}
    server.answers["/ktui/v1/etcd/prefixes?prefix="] = ALL_OF_ETCD
    server.answers["/ktui/v1/etcd/key?key=x"] = {"key": "x", "mod_revision": 7, "create_revision": 7,
        "version": 1, "encoding": "unknown", "hex": b"on \xe2\x9c\x93[red]".hex(), "raw_bytes": 11,
        "text": "on ✓[red]\nsecond line", "error": "neither protobuf nor JSON"}  # fmt: skip
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "x")
        text = screen.value.query_one("#object").text  # type: ignore[attr-defined]
        assert text == "on ✓[red]\nsecond line"
        assert "not a Kubernetes object" in shown(app)
