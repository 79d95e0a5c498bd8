"""A question before somebody's server has to work hard."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from ktui.tui.widgets.lines import line, lines


class ConfirmScreen(ModalScreen[bool]):
    """True only after `y`."""

    DEFAULT_CSS = """
    ConfirmScreen { align: center middle; background: $background 60%; }
    ConfirmScreen > Vertical {
        width: 72; max-width: 90%; height: auto; background: $surface; border: round $warning; padding: 1 2;
        border-title-color: $warning; border-subtitle-color: $ink-muted;
    }
    ConfirmScreen Static { width: 1fr; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", id="confirm.yes", tooltip="do it"),
        Binding("n,escape,q", "answer(False)", "no", id="confirm.no", tooltip="leave it"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        box = Vertical()
        box.border_title = line(self._title)
        box.border_subtitle = "y yes · n no"
        with box:
            yield Static(lines([line(text) for text in self._text.split("\n")]), markup=False)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
