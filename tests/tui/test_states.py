"""Every screen while there is nothing yet, nothing any more, too much, or no etcd: said and pictured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from ktui.contract.events import AnyEvent, CacheStatus, EtcdCall, EtcdHealth, ServerInfo
from ktui.kube.gates import NEWEST_MINOR
from ktui.tui.app import KtuiApp
from ktui.tui.source import Link, Stage
from ktui.tui.widgets.banner import Banner

from .asking import SIZES, Matches, Snap, asking_app, until, until_shown
from .fake_server import FakeServer
from .huge import huge_events
from .still import NORMAL, SMALL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

STOPPED = Link(Stage.STOPPED, "killed by signal 9", restartable=True)
LOST = Link(Stage.STOPPED, "https://10.0.0.7:6443 has closed the connection", restartable=True, retries=True)
STARTING = Link(Stage.STARTING, "starting etcd and the API server")
DEAD = EtcdHealth(ok=False, detail="127.0.0.1:2379 refuses the connection")
NO_SPACE = EtcdCall(
    op="txn", request="compare:<> success:<>", purpose="update",
    error="etcd http://127.0.0.1:2379 is out of space (database space exceeded); compact, defragment and "
    "disarm the alarm.",
)  # fmt: skip
KEYS = {
    "overview": ["1"],
    "requests": ["2"],
    "top": ["2", "t"],
    "cache": ["3"],
    "etcd": ["4"],
    "lab": ["5"],
    "watches": ["6"],
    "versions": ["8"],
}
NAMED = {screen: f"› {screen.title()}" for screen in KEYS} | {"etcd": "› etcd", "top": "› most expensive"}
Make = Callable[[], KtuiApp]


def live(*more: AnyEvent) -> KtuiApp:
    return still_app([*demo_events(), *more])


async def text_of(app: KtuiApp, keys: list[str], size: tuple[int, int] = NORMAL) -> str:
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return shown(app)


# What is said.

WHY_EMPTY = {
    "overview": "no reads answered yet",
    "requests": "no requests yet",
    "top": "no reads answered yet",
    "cache": "no watch caches yet",
    "etcd": "no server yet",
    "lab": "f sends the LIST above",
    "watches": "no open WATCH",
    "versions": f"1.19 to 1.{NEWEST_MINOR}",
}


async def test_what_was_known_stays_and_is_told_to_be_old() -> None:
    app = still_app(demo_events(), STOPPED)
    async with app.run_test(size=NORMAL) as pilot:
        for keys in KEYS.values():
            await pilot.press(*keys)
            app.intake.set_link(STOPPED)
            await until(pilot, lambda: app.screen.has_class("-stale"))
            says = "the server has stopped: killed by signal 9 — press r to restart it"
            await until_shown(pilot, "as of 14:13:30", says)
            header = shown(app).splitlines()[0]
            assert "as of 14:13:30" in header and "+12/s" not in header
            app.intake.set_link(Link(Stage.LIVE))
            await until(pilot, lambda: not app.screen.has_class("-stale") and "as of" not in shown(app))


async def test_a_server_that_ktui_did_not_start_is_tried_again() -> None:
    text = await text_of(still_app(demo_events(), LOST), ["1"])
    assert "connection lost: https://10.0.0.7:6443 has closed the connection" in text
    assert "retrying every few seconds, r retries now" in text


async def test_a_dead_etcd_costs_a_small_terminal_two_lines() -> None:
    words = "etcd http://127.0.0.1:2379: the connection broke (Socket closed); has etcd been stopped there, "
    app = live(EtcdHealth(ok=False, detail=f"{words}does it speak gRPC at all?"))
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        banner = app.screen.query_one(Banner)
        assert banner.size.height == 2
        assert "(Socket closed) — reads" in banner.text and "gRPC" not in banner.text
        assert "else waits" in shown(app)


STALE = [
    CacheStatus(resource=resource, state="ready", rv=9, objects=5, stale_since=at)
    for resource, at in (("pods", 1_700_000_000.0), ("ciliumnodes.cilium.io", 1_700_000_005.0))
]


@pytest.mark.parametrize("screen", ["overview", "cache", "requests"])
@pytest.mark.parametrize("size", [SMALL, NORMAL], ids=["80x24", "120x40"])
async def test_stale_caches_are_said_in_the_header_and_on_screen(screen: str, size: tuple[int, int]) -> None:
    app = live(*STALE)
    async with app.run_test(size=size) as pilot:
        await pilot.press(*KEYS[screen])
        await pilot.pause()
        top = shown(app).splitlines()[0]
        assert "2 caches stale" in top or "2 stale" in top
        assert app.screen.query_one(Banner).text == (
            "2 watch caches stale: pods, ciliumnodes.cilium.io, no word from etcd since 22:13:20 "
            "— reads at resourceVersion=0 may be old"
        )
        if screen == "cache":
            assert "◌ stale" in shown(app)
        app.feed([replace(cache, stale_since=0.0) for cache in STALE])
        app.tick()
        await pilot.pause()
        assert "stale" not in shown(app).splitlines()[0] and not app.screen.query_one(Banner).text


async def test_an_etcd_without_space_is_said_until_it_takes_a_write() -> None:
    app = live(NO_SPACE)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        assert "etcd rejects writes" in shown(app) and "disarm the alarm" in shown(app)
        app.feed([EtcdCall(op="txn", request="", purpose="update")])
        app.tick()
        await pilot.pause()
        assert "etcd rejects writes" not in shown(app)


@SIZES
async def test_no_number_is_cut_however_large(size: tuple[int, int]) -> None:
    """A cut word can be guessed, a cut number misleads: no digit stands before an ellipsis in a table."""
    app = still_app(huge_events())
    async with app.run_test(size=size) as pilot:
        for screen in ("requests", "top", "cache", "watches"):
            await pilot.press(*KEYS[screen])
            await pilot.pause()
            table = app.screen.active_table()  # type: ignore[attr-defined]
            for fitted in table.painter.fitted:
                if fitted.column.align == "right":
                    texts = [_plain(fitted.column.cell(row)) for row in table.rows[:50]]
                    assert all(cell_len(text) <= fitted.width for text in texts), (screen, fitted.column.id)


async def test_5000_caches_and_prefixes_are_all_there() -> None:
    app = still_app(huge_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: app.screen.active_table().total > 5_000)  # type: ignore[attr-defined]
        await pilot.press("end")
        await until_shown(pilot, "kind0000")


def _plain(cell: Any) -> str:
    from ktui.core.table.columns import plain

    return plain(cell)


# Goldens.


# What every screen says in a state: one app that visits all of them.
STATES: dict[str, tuple[Make, dict[str, str]]] = {
    "empty": (still_app, WHY_EMPTY),
    "starting": (lambda: still_app(link=STARTING), dict.fromkeys(KEYS, STARTING.detail)),
    "stopped": (lambda: still_app(demo_events(), STOPPED), dict.fromkeys(KEYS, STOPPED.detail)),
    "etcd-dead": (lambda: live(DEAD), dict.fromkeys(KEYS, "etcd does not answer: 127.0.0.1:2379")),
    "huge": (lambda: still_app(huge_events()), NAMED),
}


@pytest.mark.parametrize("state", STATES)
@SIZES
async def test_every_screen(matches_golden: Matches, state: str, size: tuple[int, int]) -> None:
    make, says = STATES[state]
    async with make().run_test(size=size, notifications=True) as pilot:
        for screen, keys in KEYS.items():
            await pilot.press(*keys)
            await matches_golden(pilot, (NAMED[screen], says[screen]), name=screen)


@SIZES
def test_no_space(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(live(NO_SPACE), says="etcd rejects writes", press=("1",), terminal_size=size)


@SIZES
def test_a_cache_that_may_not_be_read(snap_compare: Snap, size: tuple[int, int]) -> None:
    denied = CacheStatus(
        at=1_790_000_011.0, resource="secrets", state="initializing", expected=420,
        error="etcd 127.0.0.1:2379: this user lacks the permission for /registry/secrets/; give one of its "
        "roles that range",
    )  # fmt: skip

    async def rest(pilot: Any) -> None:
        await pilot.press("3")
        await pilot.pause()
        table = pilot.app.screen.table
        table.move_to([row.resource for row in table.rows].index("secrets"))
        await pilot.pause()

    says = ("secrets", "this user lacks the permission")
    assert snap_compare(live(denied), says=says, run_before=rest, terminal_size=size)


@SIZES
def test_an_etcd_that_may_not_be_read(snap_compare: Snap, size: tuple[int, int]) -> None:
    server = FakeServer()
    server.failing = "403: etcd 127.0.0.1:2379: this user lacks the permission for /registry/"

    assert snap_compare(asking_app(server), says="403: etcd", press=("4",), terminal_size=size)


@SIZES
def test_a_read_only_snapshot(snap_compare: Snap, size: tuple[int, int]) -> None:
    """A file has no watch and no writes; its header and banner say what it is."""
    info = next(event for event in demo_events() if isinstance(event, ServerInfo))
    file = ServerInfo(
        ktui_version=info.ktui_version, kube_version="1.30", etcd_version="3.5.1", etcd_kind="snapshot",
        endpoints=[], writable=False, progress="unsupported", name="backup.db",
        warnings=["backup.db has no hash: it was copied out of a data directory"],
    )  # fmt: skip
    assert snap_compare(live(file), says="backup.db has no hash", press=("1",), terminal_size=size)
