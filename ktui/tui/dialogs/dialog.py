"""The frame of all dialogs, the question before an action, and the menu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ktui.tui.keys.bindings import DIALOGS
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line, lines

Box = TypeVar("Box", bound=Widget)


def framed(box: Box, title: str, *hints: tuple[str, str], before: str = "") -> Box:
    """Write the title of a box on its frame, and below it `before` and the keys of `hints`."""
    box.border_title = line(title)
    box.border_subtitle = line(before) + key_hints(*hints)
    return box


class Dialog(ModalScreen[ScreenResultType | None], Generic[ScreenResultType]):
    """One box in the middle of the screen that it covers: a list, or a container.

    `bindings` is the name of its keys. The result is None if it is closed.
    """

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
    Dialog > Vertical > OptionList {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .option-list--option-highlighted { background: $cursor; color: $ink-strong; text-style: none; }
    }
    Dialog HiddenInput { display: none; border: none; height: 1; padding: 0; background: $surface; }
    Dialog HiddenInput.-open { display: block; }
    """

    def __init_subclass__(cls, *, bindings: str = "", **more: bool) -> None:
        if bindings:
            cls.BINDINGS = DIALOGS[bindings]
        super().__init_subclass__(**more)

    def ask(self, app: App[Any], then: Callable[[ScreenResultType], object]) -> None:
        """Open the dialog; `then` receives its result, and is not called if the dialog is closed."""

        def answered(result: ScreenResultType | None) -> None:
            if result is not None:
                then(result)

        app.push_screen(self, answered)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the dialog, once: a key typed early must not close the screen below."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


class HiddenInput(Input):
    """A dialog's line of input, hidden until a key opens it."""

    def __init__(self, placeholder: str, max_length: int = 0) -> None:
        super().__init__(placeholder=placeholder, compact=True, max_length=max_length)
        self.cursor_blink = False

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def open(self) -> None:
        self.add_class("-open")
        self.focus()

    def close(self) -> None:
        self.remove_class("-open")


class ConfirmScreen(Dialog[bool], bindings="question"):
    """Returns True after `y`, else None."""

    DEFAULT_CSS = """
    ConfirmScreen > Vertical {
        width: 72; border: round $warning; border-title-color: $warning; padding: 1 2;
    }
    ConfirmScreen Static { width: 1fr; height: auto; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with framed(Vertical(), self._title, ("confirm.yes", "yes"), ("confirm.no", "no")):
            yield Static(lines([line(text) for text in self._text.split("\n")]), markup=False)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes or None)


class Menu(Dialog[ScreenResultType], Generic[ScreenResultType]):
    """Returns what the user chose, by its character, enter or a click.

    `entries` are (character or "", text, result), `at` has the cursor. On the lower edge are `hint` and the
    key of `closes` (its id and what it does).
    """

    def __init__(
        self, title: str, hint: str, closes: tuple[str, str],
        entries: Sequence[tuple[str, Content, ScreenResultType]], at: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self._title, self._hint, self._closes, self._at = title, hint, closes, at
        self.entries = tuple(entries)
        # Also bindings: a key that follows the menu's own at once is still given to the screen below.
        for index, (character, _, _) in enumerate(self.entries):
            if character:
                self._bindings.bind(character, f"choose({index})", show=False)

    def compose(self) -> ComposeResult:
        options = OptionList(*(Option(text) for _, text, _ in self.entries), markup=False)
        options.highlighted = self._at
        yield framed(Vertical(options), self._title, self._closes, before=f"{self._hint} · ")

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
