"""The frame of all dialogs, the question before an action, and the menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

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
    BINDINGS: ClassVar[list[BindingType]] = keys.DIALOGS["question"]

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


class Menu(Dialog[ScreenResultType | None], Generic[ScreenResultType]):
    """Returns what the user chose, by its character, enter or a click; None if closed.

    `entries` are (character or "", text, result); `hint` is on the lower edge, `at` has the cursor.
    """

    DEFAULT_CSS = """
    Menu > Vertical > OptionList {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .option-list--option-highlighted { background: $cursor; color: $ink-strong; text-style: none; }
    }
    """

    def __init__(
        self, title: str, hint: str, entries: Sequence[tuple[str, Content, ScreenResultType]], at: int = 0
    ) -> None:
        super().__init__()
        self._title, self._hint, self._at = title, hint, at
        self.entries = tuple(entries)
        # Also bindings: a key that follows the menu's own at once is still given to the screen below.
        for index, (character, _, _) in enumerate(self.entries):
            if character:
                self._bindings.bind(character, f"choose({index})", show=False)

    def compose(self) -> ComposeResult:
        options = OptionList(*(Option(text) for _, text, _ in self.entries), markup=False)
        options.highlighted = self._at
        box = Vertical(options)
        box.border_title, box.border_subtitle = line(self._title), line(self._hint)
        yield box

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.entries[event.option_index][2])

    def on_key(self, event: events.Key) -> None:
        for index, (character, _, _) in enumerate(self.entries):
            if character and character == event.character:
                event.stop()
                self.action_choose(index)

    def action_choose(self, index: int) -> None:
        self.dismiss(self.entries[index][2])

    def action_cursor(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()
