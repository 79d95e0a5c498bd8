"""A yes-or-no question, before what is expensive or shows secrets."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line, lines


class ConfirmScreen(Dialog[bool]):
    """Returns True after `y`, else False."""

    DEFAULT_CSS = """
    ConfirmScreen > Vertical {
        width: 72; border: round $warning; border-title-color: $warning; padding: 1 2;
    }
    ConfirmScreen Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.CONFIRM

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        box = Vertical()
        box.border_title = line(self._title)
        box.border_subtitle = key_hints(("confirm.yes", "yes"), ("confirm.no", "no"))
        with box:
            yield Static(lines([line(text) for text in self._text.split("\n")]), markup=False)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
