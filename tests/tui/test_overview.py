"""The Overview: what it says first, then its picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ktui.telemetry.events import EtcdHealth, Prefix, RequestFinished, RequestRouted, RequestStarted
from ktui.tui.source import Link, Stage

from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]


@pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=["80x24", "120x40", "200x50"])
def test_overview(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(still_app(demo_events()), terminal_size=size)


def test_a_request_that_waited_for_the_cache(snap_compare: Snap) -> None:
    assert snap_compare(still_app(demo_events()), press=("up", "up"), terminal_size=SMALL)


def test_filtered(snap_compare: Snap) -> None:
    keys = ("slash", *"route:E ms>10", "enter")
    assert snap_compare(still_app(demo_events()), press=keys, terminal_size=NORMAL)


def test_empty(snap_compare: Snap) -> None:
    assert snap_compare(still_app(), terminal_size=SMALL)


def test_starting(snap_compare: Snap) -> None:
    link = Link(Stage.STARTING, "etcd 3.5.1, then 2,000 pods for the demo")
    assert snap_compare(still_app(link=link), terminal_size=SMALL)


def test_the_server_has_stopped(snap_compare: Snap) -> None:
    link = Link(Stage.STOPPED, "killed by signal 9", restartable=True)
    assert snap_compare(still_app(demo_events(), link), terminal_size=SMALL)


def test_etcd_does_not_answer(snap_compare: Snap) -> None:
    dead = EtcdHealth(ok=False, detail="127.0.0.1:2379 refuses the connection")
    assert snap_compare(still_app([*demo_events(), dead]), terminal_size=SMALL)


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
    assert snap_compare(still_app([*demo_events(), *HOSTILE]), terminal_size=NORMAL)


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
    for title in ("/registry", "watch caches", "rv progress", "requests", "why"):
        assert title in text, title
    assert "1 Overview" in text and "5 Lab" in text and "? help" in text


async def test_the_header_tells_whose_control_plane_this_is() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        head = shown(app).splitlines()[0]
    assert " ".join(head.split()) == (
        "ktui · demo · etcd 3.5.1 (embedded) · kube 1.36 · writable "
        "rev 48,213 +12/s our toll on etcd: 212 RPC 4.1 MB"
    )


async def test_enter_takes_the_request_to_its_own_screen() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("up", "up", "enter")
        await pilot.pause()
        assert app.current_mode == "requests"
        assert app.screen.log_table.row.id == 14
