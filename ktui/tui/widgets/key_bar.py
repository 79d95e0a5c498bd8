"""The footer: the keys that act here, as many as fit."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from ktui.tui.modes import MODES

_NUMBERS = {str(mode.number): mode.name for mode in MODES}


class KeyBar(Footer):
    """Where not all keys fit, other screens show as bare numbers, the last ones first."""

    DEFAULT_CSS = """
    KeyBar { background: $footer-background; }
    KeyBar FooterKey.-here .footer-key--description { color: $ink-strong; text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._composed_for = 0

    def compose(self) -> ComposeResult:
        keys = list(super().compose())
        self._composed_for = width = self.app.size.width
        here = self.app.current_mode
        for key in keys:
            if isinstance(key, FooterKey):
                key.set_class(_NUMBERS.get(key.key) == here, "-here")
        for key in reversed(keys):
            if _width(keys) <= width:
                break
            if isinstance(key, FooterKey) and _NUMBERS.get(key.key, here) != here:
                key.description = ""
        yield from keys

    def on_resize(self, event: Resize) -> None:
        if self.app.size.width != self._composed_for:
            self.call_after_refresh(self.recompose)


def _width(keys: list[Widget]) -> int:
    """Cells that all keys take, with a gap between two."""
    shown = [key for key in keys if isinstance(key, FooterKey)]
    return sum(len(key.key_display) + bool(key.description) + len(key.description) + 1 for key in shown) - 1
