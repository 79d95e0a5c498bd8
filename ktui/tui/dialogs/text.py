"""One object, or any text, over the screen."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ktui.core.format import safe
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints


class TextScreen(Dialog[None]):
    """Shows a JSON value, indented, or a text as it is; always as plain text."""

    DEFAULT_CSS = """
    TextScreen > VerticalScroll { width: 90%; height: 90%; }
    TextScreen Static { width: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.CLOSE_TEXT

    def __init__(self, title: str, value: Any) -> None:
        super().__init__()
        self._title = title
        self.text = value if isinstance(value, str) else pretty(value)

    def compose(self) -> ComposeResult:
        box = VerticalScroll()
        box.border_title = Content(safe(self._title))
        box.border_subtitle = key_hints(("text.close", "closes"))
        with box:
            yield Static(Content("\n".join(safe(text) for text in self.text.split("\n"))), markup=False)


def pretty(value: Any) -> str:
    """JSON, indented by two."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
