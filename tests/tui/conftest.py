"""Everything that could differ between two runs is fixed before Textual is imported."""

from __future__ import annotations

import os
import tempfile

_HOME = tempfile.mkdtemp(prefix="ktui-tests-")
for _name in ("NO_COLOR", "TEXTUAL", "COLUMNS", "LINES", "TEXTUAL_THEME", "TEXTUAL_DEBUG"):
    os.environ.pop(_name, None)
os.environ.update(
    TEXTUAL_ANIMATIONS="none",
    TEXTUAL_SMOOTH_SCROLL="0",
    TEXTUAL_SPEEDUPS="0",
    TEXTUAL_COLOR_SYSTEM="truecolor",
    TZ="UTC",
    TERM="xterm-256color",
    LC_ALL="C.UTF-8",
    HOME=_HOME,
)

import asyncio  # noqa: E402
import time  # noqa: E402
from collections.abc import Awaitable, Callable, Iterable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import pytest  # noqa: E402
import textual.app  # noqa: E402
import textual.pilot  # noqa: E402
from syrupy.assertion import SnapshotAssertion  # noqa: E402
from textual.notifications import Notification  # noqa: E402
from textual.screen import Screen  # noqa: E402

from ktui.tui.app import KtuiApp  # noqa: E402

from .asking import Matches  # noqa: E402
from .frames import paint_later  # noqa: E402
from .golden import GoldenExtension, golden  # noqa: E402
from .own_loop import pytest_pyfunc_call  # noqa: E402, F401
from .quiet import until_handled, until_quiet  # noqa: E402
from .still import until_said, until_still  # noqa: E402

time.tzset()

Says = str | Iterable[str]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def a_home_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What one test leaves behind (the Lab's runs, typed lines, tables' columns) is not found by the next."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config-home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))


@pytest.fixture(autouse=True)
def a_patient_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a key or a pause has set going has happened, and is painted, when the test goes on, however slow
    the machine is.
    """
    for module in (textual.app, textual.pilot):
        monkeypatch.setattr(module, "wait_for_idle", until_quiet)
    monkeypatch.setattr(textual.pilot.Pilot, "_wait_for_screen", until_handled)
    monkeypatch.setattr(Screen, "_compositor_refresh", paint_later)


@pytest.fixture(autouse=True)
def the_screen_under_test_is_the_first(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`@pytest.mark.starts_on("lab")`: the number that a test types then leads to where it is already."""
    if mark := request.node.get_closest_marker("starts_on"):
        monkeypatch.setattr(KtuiApp, "DEFAULT_MODE", *mark.args)


@pytest.fixture(autouse=True)
def what_was_told_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note goes after some seconds: on a slow machine before a test has looked for it."""
    monkeypatch.setattr(Notification, "time_left", 3600.0)


@pytest.fixture
def matches_golden(snapshot: SnapshotAssertion) -> Matches:
    """Compares the screen with its text in `__snapshots__`, once it says `says` and nothing moves."""
    stored = snapshot.use_extension(GoldenExtension)

    async def matches(pilot: Any, says: Says, name: str = "") -> None:
        await until_said(pilot, *([says] if isinstance(says, str) else says))
        await until_still(pilot)
        drawn = golden(pilot.app)
        assert drawn == (stored(name=name) if name else stored)

    return matches


@pytest.fixture
def snap_compare(
    snap_compare: Callable[..., bool], matches_golden: Matches, request: pytest.FixtureRequest
) -> Callable[..., bool]:
    """Runs an app and compares its screen with the stored text; marked `picture`, with the stored SVG too."""
    pictured = request.node.get_closest_marker("picture") is not None

    def compare(
        app: Any,
        *,
        says: Says,
        press: Iterable[str] = (),
        terminal_size: tuple[int, int] = (80, 24),
        run_before: Callable[[Any], Awaitable[object]] | None = None,
    ) -> bool:
        async def steps(pilot: Any) -> None:
            if run_before is not None:
                await run_before(pilot)
            await pilot.pause()
            await pilot.press(*press)
            await matches_golden(pilot, says)

        async def alone() -> None:
            async with app.run_test(size=terminal_size, notifications=True) as pilot:
                await steps(pilot)

        if pictured:
            return snap_compare(app, terminal_size=terminal_size, run_before=steps)
        asyncio.run(alone())
        return True

    return compare
