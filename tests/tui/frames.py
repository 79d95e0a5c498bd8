"""An app paints once it is quiet, not at each change on the way: no test sees those frames."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

_PAINT = Screen._compositor_refresh  # Textual's
_due: dict[Screen[Any], None] = {}


def paint_later(screen: Screen[Any]) -> None:
    """Instead of `Screen._compositor_refresh`. The compositor keeps what is to be painted."""
    screen._dirty_widgets.clear()
    _due[screen] = None


def paint_due() -> bool:
    """Have each screen paint what has changed since; whether there is one. It paints as its next message."""
    for screen in [screen for screen in _due if not screen.is_running]:
        del _due[screen]
    screens = [screen for screen in _due if not screen.app._batch_count]  # else nothing would be displayed
    for screen in screens:
        del _due[screen]
        screen.call_next(_PAINT, screen)
    return bool(screens)
