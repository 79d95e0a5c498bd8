"""The etcd screen: prefixes, keys, one key."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.tui.app import KtuiApp
from ktui.tui.screens.etcd import EtcdScreen
from ktui.tui.screens.etcd import screen as screen_module

from .asking import SIZES, Snap, asking_app, until, until_shown
from .fake_server import FakeServer
from .still import NORMAL, SMALL, WIDE, shown, still_app

pytestmark = pytest.mark.anyio

FAILING = "no server answers at http://127.0.0.1:1 (connection refused)"


ALL_OF_ETCD = {
    "revision": 7,
    "children": [
        {"prefix": "/registry/", "count": 12_000, "bytes": 40_000_000, "exact": False},
        {"prefix": "/service/", "count": 3, "bytes": 120, "leaf": True},
        {"prefix": "x", "count": 1, "bytes": 12, "leaf": True},
    ],
}


def screen_of(app: KtuiApp) -> EtcdScreen:
    assert isinstance(app.screen, EtcdScreen)
    return app.screen


async def put_cursor(pilot: Any, label: str) -> EtcdScreen:
    """Open the screen, rest on a prefix, and wait for its keys."""
    await pilot.press("4")
    await until(pilot, lambda: isinstance(pilot.app.screen, EtcdScreen))
    screen = screen_of(pilot.app)
    await until(pilot, lambda: screen.prefixes.total > 0)
    labels = [row.label for row in screen.prefixes.rows]
    screen.prefixes.move_to(labels.index(label))
    await until(pilot, lambda: screen.key_list.prefix.endswith(label) and bool(screen.key_list.revision))
    await until(pilot, lambda: screen.keys.total == len(screen.key_list.keys))
    return screen


async def show_first_key(pilot: Any, label: str) -> EtcdScreen:
    screen = await put_cursor(pilot, label)
    await until(pilot, lambda: screen.value.detail is not None)
    await pilot.pause()
    return screen


async def open_pods(pilot: Any) -> None:
    screen = await show_first_key(pilot, "pods/")
    await pilot.press("right")
    await until(pilot, lambda: screen.prefixes.total == 11 + 12)
    await until_shown(pilot, "team-11/", "kind: Pod", "500 of 3,000")


# What it does.


async def test_the_tree_opens_lazily_and_closes() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        assert [path for path in server.asked if "/prefixes" in path] == [
            "/ktui/v1/etcd/prefixes?prefix=/registry/"
        ]
        await pilot.press("enter")
        await until(pilot, lambda: screen.prefixes.total == 11 + 12)
        assert "▾ pods/" in shown(app)
        assert "· team-00/" in shown(app)
        await pilot.press("down", "left")
        assert screen.prefixes.row is not None
        assert screen.prefixes.row.label == "pods/"
        await pilot.press("left")
        await until(pilot, lambda: screen.prefixes.total == 11)


async def test_sampled_bytes_are_marked() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "pods/")
        assert "~17.9M" in shown(app)


async def test_keys_are_read_a_page_at_a_time() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        assert len(screen.key_list.keys) == 500
        await until_shown(pilot, " pods/ · 500 of 3,000")
        screen.keys.focus()
        await pilot.press("end")
        await until(pilot, lambda: len(screen.key_list.keys) == 1_000)
        assert any(path.endswith("&after=/registry/pods/team-01/web-0499") for path in server.asked)


async def test_a_filter_never_makes_a_whole_prefix_be_read() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        screen.keys.focus()
        asked = len([path for path in server.asked if "/keys?" in path])
        await pilot.press("slash", *"web-0499", "enter")
        await until(pilot, lambda: len(screen.keys.rows) == 1)
        assert len([path for path in server.asked if "/keys?" in path]) == asked


async def test_a_key_shows_its_metadata_object_and_bytes() -> None:
    app = asking_app()
    async with app.run_test(size=WIDE) as pilot:
        screen = await show_first_key(pilot, "pods/")
        text = shown(app)
        assert "v1 Pod · protobuf · 6.0 kB stored" in text
        assert "at revision 44,000 (version 3)" in text
        assert "phase: Running" in screen.value.query_one("#object").text  # type: ignore[attr-defined]
        assert "6b 38 73 00" in text
        await pilot.press("v")
        await until(pilot, lambda: '"kind": "Pod",' in shown(app))


async def test_a_lease_shows_its_remaining_ttl() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await show_first_key(pilot, "events/")
        await until(pilot, lambda: "694d71ddf8a1ff05, 45m left" in shown(app))


async def test_a_secret_is_revealed_only_when_asked() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "secrets/")
        assert "<redacted: 12 bytes>" in shown(app)
        assert not any("reveal" in path for path in server.asked)
        await pilot.press("R")
        await until(pilot, lambda: "aHVudGVyMi1odW50" in shown(app))
        assert not screen.value.redacted
        await pilot.press("u")  # reading again hides it again
        await until(pilot, lambda: server.asked[-1].startswith("/ktui/v1/etcd/prefixes"))


async def test_another_key_hides_what_was_revealed() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "secrets/")
        await pilot.press("R")
        await until(pilot, lambda: not screen.value.redacted)
        await put_cursor(pilot, "events/")
        await show_first_key(pilot, "secrets/")
        await until(pilot, lambda: screen.value.redacted)
        assert "aHVudGVyMi1odW50" not in shown(app)


async def test_a_cursor_on_its_way_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_module, "SETTLE", 3_600.0)
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: screen_of(app).prefixes.total == 11)
        await pilot.press("down", "down", "down", "up", "end")
        await pilot.pause()
    assert server.asked == ["/ktui/v1/etcd/prefixes?prefix=/registry/"]


async def test_hostile_keys_and_labels_are_text() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "weird[red]/")
        text = shown(app)
        assert "· weird[red]/" in text
        assert "x[red]y␛[31m" in text
        assert "\x1b" not in text


async def test_a_failure_is_said_and_u_tries_again() -> None:
    server = FakeServer()
    server.failing = FAILING
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("4")
        await until(pilot, lambda: FAILING[:30] in shown(app))
        server.failing = ""
        await pilot.press("u")
        await until(pilot, lambda: screen_of(app).prefixes.total == 11)


async def test_another_server_is_read_anew() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        await put_cursor(pilot, "pods/")
        app.client = other = FakeServer()  # type: ignore[assignment]
        app.tick()
        await until(pilot, lambda: "/ktui/v1/etcd/prefixes?prefix=/registry/" in other.asked)


async def open_past(pilot: Any) -> EtcdScreen:
    screen = await show_first_key(pilot, "pods/")
    await pilot.press("p")
    await until(pilot, lambda: screen.revisions.total == 3)
    await until_shown(pilot, '+   podIP: "10.2.7.31"')
    return screen


async def test_the_past_of_a_key_shows_what_changed() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await open_past(pilot)
        assert "revisions · all 3" in shown(app)
        assert "−   phase: Pending" in shown(app) and "+   phase: Running" in shown(app)
        assert "resourceVersion" not in screen.value.query_one("#object").text  # type: ignore[attr-defined]
        await pilot.press("down")
        await until_shown(pilot, "from     at revision 31,000", "+   nodeName: node-07")
        asked = len(server.asked)
        await pilot.press("up")
        await until_shown(pilot, "from     at revision 38,412")
        assert len(server.asked) == asked  # both were read before
        await pilot.press("end")
        await until_shown(pilot, "the oldest revision that etcd has")
        await pilot.press("m", "home")
        await until_shown(pilot, "from     at revision 31,000", "to       at revision 44,000", "◆")
        await pilot.press("escape")
        await until_shown(pilot, "created  at revision 31,000")
        assert screen.past is None and screen.keys.has_focus


async def test_a_secrets_past_is_redacted_too() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await show_first_key(pilot, "secrets/")
        await pilot.press("p")
        await until_shown(pilot, "redacted, R reveals")
        assert not any("reveal" in path for path in server.asked)
        await pilot.press("R")
        await until(pilot, lambda: any("reveal=1" in path for path in server.asked))


async def test_sizes_by_field() -> None:
    app = asking_app()
    async with app.run_test(size=NORMAL) as pilot:
        screen = await show_first_key(pilot, "pods/")
        assert "metadata.managedFields is 41% of this object" in shown(app)
        await pilot.press("v", "v", "v")
        await until_shown(pilot, "value · sizes")
        told = screen.value.query_one("#object").text.splitlines()  # type: ignore[attr-defined]
        assert [line.split()[0] for line in told] == [
            "59%",
            "41%",
            "9%",
            "2%",
            "23%",
            "17%",
            "18%",
            "11%",
            "0%",
            "5,968",
        ]


async def test_the_caches_copy_is_compared() -> None:
    server = FakeServer()
    key = "/ktui/v1/etcd/key?key=/registry/pods/team-00/web-0000"
    for copy, says in (
        ({"rv": 44_000, "cache_rv": 48_102, "same": True}, "= has the same bytes at rv 48,102"),
        ({"rv": 43_000, "cache_rv": 43_900, "same": False}, "≠ has its rv 43,000 at rv 43,900"),
        ({"rv": 0, "cache_rv": 43_900, "same": False}, "≠ does not have it"),
        (None, "not filled: nothing to compare with"),
    ):
        server.answers[key]["cache"] = copy
        app = asking_app(server)
        async with app.run_test(size=WIDE) as pilot:
            await show_first_key(pilot, "pods/")
            await until_shown(pilot, says)


async def test_a_lease_that_may_not_be_asked_says_why() -> None:
    app = asking_app()
    async with app.run_test(size=WIDE) as pilot:
        screen = await show_first_key(pilot, "events/")
        screen.keys.focus()
        await pilot.press("down")
        await until_shown(pilot, "ttl is not asked: read-only sends Range, Watch, Status")


async def test_all_of_etcd_and_back() -> None:
    server = FakeServer()
    server.answers["/ktui/v1/etcd/prefixes?prefix="] = ALL_OF_ETCD
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        screen = await put_cursor(pilot, "pods/")
        await pilot.press("a")
        await until(
            pilot, lambda: [row.label for row in screen.prefixes.rows] == ["/registry/", "/service/", "x"]
        )
        assert "all of etcd" in shown(app)
        await pilot.press("a")
        await until(pilot, lambda: screen.prefixes.total == 11)


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
        assert "no Kubernetes object" in shown(app)


# What it looks like.


@SIZES
def test_past(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(asking_app(), run_before=open_past, terminal_size=size)


@SIZES
def test_sizes(snap_compare: Snap, size: tuple[int, int]) -> None:
    async def to_sizes(pilot: Any) -> None:
        await show_first_key(pilot, "pods/")
        await pilot.press("v", "v", "v")
        await until_shown(pilot, "value · sizes", "2,447    managedFields")

    assert snap_compare(asking_app(), run_before=to_sizes, terminal_size=size)


@SIZES
def test_pods(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(asking_app(), run_before=open_pods, terminal_size=size)


def test_bytes_at_80_columns(snap_compare: Snap) -> None:
    async def to_bytes(pilot: Any) -> None:
        await show_first_key(pilot, "events/")
        await pilot.press("v", "v")
        await until_shown(pilot, "00000000  6b 38 73 00")

    assert snap_compare(asking_app(), run_before=to_bytes, terminal_size=SMALL)


def test_wide(snap_compare: Snap) -> None:
    assert snap_compare(asking_app(), run_before=open_pods, terminal_size=WIDE)


def test_redacted(snap_compare: Snap) -> None:
    async def to_secret(pilot: Any) -> None:
        await show_first_key(pilot, "secrets/")
        await until_shown(pilot, "<redacted: 12 bytes>", "R reveal")

    assert snap_compare(asking_app(), run_before=to_secret, terminal_size=NORMAL)


def test_failing(snap_compare: Snap) -> None:
    server = FakeServer()
    server.failing = FAILING

    async def fail(pilot: Any) -> None:
        await pilot.press("4")
        await until_shown(pilot, "could not be read", FAILING[:30])

    assert snap_compare(asking_app(server), run_before=fail, terminal_size=SMALL)


def test_no_server(snap_compare: Snap) -> None:
    assert snap_compare(still_app(), press=("4",), terminal_size=SMALL)
