"""The Versions screen: one request under every minor."""

from __future__ import annotations

import pytest

from ktui.core.references import Selection
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.source import Link, Stage

from .asking import SIZES, Snap, sizes, until
from .still import NORMAL, SMALL, WIDE, demo_events, shown, still_app

pytestmark = [pytest.mark.anyio, pytest.mark.starts_on("versions")]

# cilium-agent's LIST of pods by label, without a resourceVersion.
UNSET = ("2", "up", "up", "8")


@sizes(SMALL, NORMAL, WIDE, pictured=[SMALL])
def test_versions(snap_compare: Snap, size: tuple[int, int]) -> None:
    says = ("/api/v1/pods?labelSelector=app=api", f"1.19 to 1.{NEWEST_MINOR}")
    assert snap_compare(still_app(demo_events()), says=says, press=UNSET, terminal_size=size)


@SIZES
def test_walk(snap_compare: Snap, size: tuple[int, int]) -> None:
    press = (*UNSET, "enter")
    assert snap_compare(
        still_app(demo_events()), says=f"1.31 – 1.{NEWEST_MINOR}", press=press, terminal_size=size
    )


def test_refused(snap_compare: Snap) -> None:
    typed = "/api/v1/pods?watch=1&sendInitialEvents=true"
    keys = ["equals_sign" if char == "=" else char for char in typed]
    press = ("8", "i", "ctrl+u", *keys, "enter", "enter")
    says = (f"1.34 – 1.{NEWEST_MINOR}", "422 Invalid", "setting resourceVersionMatch to NotOlderThan")
    assert snap_compare(still_app(demo_events()), says=says, press=press, terminal_size=NORMAL)


async def test_the_request_comes_from_the_screen_before() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*UNSET)
        await pilot.pause()
        text = shown(app)
        assert "/api/v1/pods?labelSelector=app=api" in text and "from Requests" in text
        await pilot.press("5", "8")
        await pilot.pause()
        assert "from the Lab" in shown(app)
        await pilot.press("3", "8")
        await pilot.pause()
        assert "from the Lab" in shown(app), "a screen without a selected request leaves it as it is"


async def test_enter_puts_equal_versions_together_and_escape_takes_them_apart() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press(*UNSET)
        await pilot.pause()
        table = app.screen.table
        assert len(table.rows) == len(KNOWN_VERSIONS) and table.row.version == "1.36"
        await pilot.press("enter")
        await pilot.pause()
        assert [row.versions for row in table.rows][-1] == f"1.31 – 1.{NEWEST_MINOR}" == table.row.versions
        assert "revision probe" in shown(app)
        await pilot.press("up")
        await pilot.pause()
        text = shown(app)
        assert "decision trace under 1.23 – 1.30" in text
        assert "1.23 changed by the release itself, no gate: seats" in text
        await pilot.press("escape")
        await pilot.pause()
        assert len(table.rows) == len(KNOWN_VERSIONS) and table.row.version == "1.23"


@pytest.mark.starts_on("overview")
async def test_a_request_is_typed_and_followed_letter_by_letter() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("8", "i", "ctrl+u", *"nodes")
        await pilot.pause()
        assert "/api/v1/nodes" in shown(app)
        await pilot.press("x")
        await pilot.pause()
        assert app.screen.query_one(Prompt).is_open
        assert "is not an API path" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "from Overview" in shown(app), "dismissed: the one before is selected again"


async def test_a_path_after_the_colon_goes_to_versions() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"/api/v1/secrets", "enter")
        await until(pilot, lambda: app.current_mode == "versions")
        await pilot.pause()
        assert "/api/v1/secrets" in shown(app) and "typed" in shown(app)
        await pilot.press("colon", *"explain nodes", "enter")
        await pilot.pause()
        assert "/api/v1/nodes" in shown(app)


async def test_hostile_text_is_shown_as_text() -> None:
    app = still_app()
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("8")
        for target in ("/api/v1/namespaces/[red]x\x1b[31m/pods", "/api/v1/[bold]\x1b[31m"):
            app.selection = Selection("LIST", target, "from [red]\x1b")
            app.tick()
            await pilot.pause()
            text = shown(app)
            assert target.replace("\x1b", "␛") in text and "from [red]␛" in text
            await pilot.press("i", "escape")


async def test_it_works_in_a_replay() -> None:
    app = still_app(demo_events(), Link(Stage.REPLAY, "demo.ndjson"))
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*UNSET)
        await pilot.pause()
        assert "+ConsistentListFromCache" in shown(app)
