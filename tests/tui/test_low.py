"""Every screen in a terminal of 60×15 shows what it is for; one of 40×10 is asked for more room."""

from __future__ import annotations

import pytest

from ktui.tui.navigation.modes import LIVE_MODES, MODES, Mode
from tests.unit.live.folded import recorded_events

from .asking import Snap, asking_app
from .still import demo_events, shown, still_app, until_said
from .test_live_screens import live_app
from .test_stored import combined_events, foreign_events

pytestmark = pytest.mark.anyio

LOW, LEAST = (60, 15), (40, 10)
SAYS = {
    "overview": ("LIST replicasets ?rv=", "waiting for the watch"),
    "requests": ("LIST pods ?app=api", "decision trace"),
    "cache": ("640 of 1,024", "3 watchers"),
    "etcd": ("pods/", "404: nothing is known"),
    "lab": ("results", "f sends the LIST above"),
    "watches": ("kubelet", "open      1h10m"),
    "workloads": ("storm reach etcd?", "kubelet-configmaps"),
    "versions": ("1.36 ◂  C",),
}


@pytest.mark.parametrize("name", SAYS)
def test_low(snap_compare: Snap, name: str) -> None:
    number = next(mode.number for mode in MODES if mode.name == name)
    app = asking_app() if name == "etcd" else still_app(demo_events())
    assert snap_compare(app, says=SAYS[name], press=(str(number),), terminal_size=LOW)


def test_low_over_an_etcd(snap_compare: Snap) -> None:
    says = ("LISTs that anyone could send", "▸ 1.36  E etcd: reads 3,000 objects")
    assert snap_compare(still_app(foreign_events()), says=says, press=("down", "up"), terminal_size=LOW)


def test_low_by_sources(snap_compare: Snap) -> None:
    says = ("a audit log 12m", "12,240.4 objects a second × 6.0 kB = 73.1 MB a")
    assert snap_compare(still_app(combined_events()), says=says, press=("down", "up"), terminal_size=LOW)


@pytest.mark.parametrize(
    "mode", [mode for mode in LIVE_MODES if mode.name != "lab"], ids=lambda mode: mode.name
)
def test_low_over_metrics(snap_compare: Snap, mode: Mode) -> None:
    assert snap_compare(
        live_app(recorded_events()), says=f"› {mode.title}", press=(str(mode.number),), terminal_size=LOW
    )


async def test_all_screens_ask_for_more_room() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=LEAST) as pilot:
        for mode in MODES:
            await pilot.press(str(mode.number))
            await until_said(pilot, "This terminal is too small: 40×10", "q leaves ktui")
            assert app.current_mode == mode.name and len(shown(app).splitlines()) == LEAST[1]
