"""The Overview: what it says first, then its picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ktui.contract.events import Prefix, RequestFinished, RequestRouted, RequestStarted

from .asking import sizes
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

Snap = Callable[..., bool]


@sizes(SMALL, NORMAL, WIDE, pictured=[NORMAL, WIDE])
def test_overview(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("48,213", "RV progress", "waiting for the watch cache")
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
        assert app.screen.log_table.row.id == 14
