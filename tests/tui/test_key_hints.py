"""Texts name the keys as they are bound: a keymap moves them there too."""

from __future__ import annotations

import pytest

from ktui.tui.keys.hints import key_hints, key_of
from ktui.tui.keys.keymap import scopes
from ktui.tui.preferences import Preferences

from .still import NORMAL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

MOVED = {
    "overview.ranking": "f2",
    "writes": "ctrl+w",
    "requests.view": "f3",
    "cache.warm": "f4",
    "lab.send": "f5",
    "lab.edit": "f6",
    "versions.edit": "f7",
    "help.leave": "f8",
}
# Screen → what stands there by default, and with the keys moved.
SAID = {
    "overview": ("t all", "F2 all"),
    "requests": ("· w all", "· ctrl+w all"),
    "lab": ("f sends the LIST above", "F5 sends the LIST above"),
    "versions": ("i edits the request", "F7 edits the request"),
}


@pytest.mark.parametrize("screen", SAID)
@pytest.mark.parametrize("moved", [False, True], ids=["default", "moved"])
async def test_titles_and_hints_name_the_live_key(screen: str, moved: bool) -> None:
    app = still_app(demo_events(), preferences=Preferences(keymap=MOVED if moved else {}))
    async with app.run_test(size=NORMAL) as pilot:
        if screen != app.current_mode:
            await app.action_go(screen)
        await pilot.pause()
        app.tick()
        await pilot.pause()
        assert SAID[screen][moved] in shown(app)
        assert SAID[screen][not moved] not in shown(app)


async def test_the_cache_says_how_a_cold_one_is_warmed() -> None:
    app = still_app(demo_events(), preferences=Preferences(keymap=MOVED))
    async with app.run_test(size=NORMAL) as pilot:
        await app.action_go("cache")
        await pilot.pause()
        await pilot.press("end")
        await pilot.pause()
        app.tick()
        await pilot.pause()
        assert "F4     warms it" in shown(app)


async def test_a_dialog_says_how_it_is_left() -> None:
    app = still_app(demo_events(), preferences=Preferences(keymap=MOVED))
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "/ finds · F8 closes" in shown(app)


def test_without_an_app_keys_are_those_that_ship() -> None:
    assert key_of("lab.send") == "f"
    assert [key_of(one) for one in ("help", "table.open", "back", "detail.next")] == ["?", "enter", "[", "→"]
    assert key_hints(("text.close", "closes"), ("copy", "copies")).plain == "esc closes · c copies"


def test_every_binding_has_a_key_that_can_be_written() -> None:
    ids = {binding.id for scope in scopes() for binding in scope.bindings if binding.id}
    assert all(key_of(one).strip() for one in ids)
    with pytest.raises(KeyError):
        key_of("no.such")
