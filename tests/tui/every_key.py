"""Every key that an app and its screens bind, pressed once on each screen that binds it."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

LEAVING = ("quit", "interrupt", "suspend_process")
REPEATED = ("go", "next_theme", "screen.theme")  # to a screen: the walk does it; a look: draws all again


async def press_every_key(pilot: Pilot[Any], mode: Any, pressed: set[tuple[str, str]]) -> None:
    """On this mode: what is bound there and was not pressed before, by who binds it and action.

    What opens is closed again, and what leads to another mode is come back from.
    """
    app = pilot.app
    await pilot.press(str(mode.number))
    while fresh := [key for key in _bound(app) if key[:2] not in pressed]:
        owner, action, key = fresh[0]
        pressed.add((owner, action))
        await pilot.press(key)
        while app.screen.is_modal or isinstance(app.focused, Input):
            await pilot.press("escape")
        if app.current_mode != mode.name:
            await pilot.press(str(mode.number))


def _bound(app: Any) -> list[tuple[str, str, str]]:
    """Who binds it, the action, and the key."""
    found = []
    for key, (node, binding, enabled, _) in app.screen.active_bindings.items():
        action = binding.action.partition("(")[0]
        if not enabled or action in LEAVING or action in REPEATED:
            continue
        shared = node is app or action.startswith(("app.", "screen."))  # bound for every screen
        owner = "" if shared else type(node).__name__
        found.append((owner, binding.action, key))
    return found
