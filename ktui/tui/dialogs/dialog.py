"""The frame of all dialogs, and the question before an action."""

from __future__ import annotations

from typing import ClassVar, Generic

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Static

from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line, lines


class Dialog(ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """One box in the middle of the screen that it covers: a list, or a container."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > OptionList, Dialog > Container, Dialog > Vertical, Dialog > VerticalScroll {
        width: 76; max-width: 96%; height: auto; max-height: 92%; background: $surface;
        border: round $line-focus; border-title-color: $ink-strong; border-subtitle-color: $ink-muted;
        padding: 0 1; scrollbar-size-vertical: 1;
    }
    Dialog > OptionList {
        text-wrap: nowrap; text-overflow: ellipsis;
        &:focus {
            border: round $line-focus;
            & > .option-list--option-highlighted {
                background: $cursor; color: $foreground; text-style: none;
            }
        }
    }
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the dialog, once: a key typed early must not close the screen below."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


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
