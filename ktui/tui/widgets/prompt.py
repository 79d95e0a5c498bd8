"""The line at the bottom where a filter or a command is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from ktui.tui.model.format import safe


class Prompt(Horizontal):
    """Hidden until opened; says what was typed by calling back, and why it makes no sense."""

    DEFAULT_CSS = """
    Prompt {
        height: 1; background: $surface; display: none; padding: 0 1;
        &.-open { display: block; }
        & > #prompt-sign { width: auto; color: $accent; text-style: bold; }
        & > #prompt-hint { width: auto; max-width: 75%; text-overflow: ellipsis; text-wrap: nowrap;
            color: $ink-muted; padding: 0 0 0 2; }
        & > #prompt-hint.-problem { color: $warning; }
        & > Input { width: 1fr; border: none; height: 1; padding: 0 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "close", show=False, id="prompt.close", tooltip="close the line"),
        Binding("tab", "complete", "complete", show=False, id="prompt.complete", tooltip="complete the word"),
    ]

    class Closed(Message):
        """The line has been closed; `kept` is False when it was dismissed."""

        def __init__(self, kept: bool) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self) -> None:
        super().__init__()
        self._typed: Callable[[str], str] = lambda text: ""
        self._entered: Callable[[str], str] = lambda text: ""
        self._hint = ""

    def compose(self) -> ComposeResult:
        yield Static("", id="prompt-sign", markup=False)
        field = Input(compact=True, select_on_focus=False)
        field.cursor_blink = False
        yield field
        yield Static("", id="prompt-hint", markup=False)

    def open(
        self,
        sign: str,
        text: str,
        *,
        hint: str,
        typed: Callable[[str], str],
        entered: Callable[[str], str],
        words: Iterable[str] = (),
    ) -> None:
        """Open with `text`. `typed` and `entered` return what is wrong, "" when nothing is."""
        self._typed, self._entered, self._hint = typed, entered, hint
        self.query_one("#prompt-sign", Static).update(Content(sign))
        field = self.query_one(Input)
        field.suggester = SuggestFromList(sorted(words), case_sensitive=False) if words else None
        with field.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self._say("")
        self.add_class("-open")
        self.screen.add_class("-prompting")
        field.focus()

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def _say(self, problem: str) -> None:
        hint = self.query_one("#prompt-hint", Static)
        hint.set_class(bool(problem), "-problem")
        hint.update(Content(safe(problem) or self._hint))

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self._say(self._typed(event.value))

    @on(Input.Submitted)
    def _on_entered(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self._entered(event.value)
        if problem:
            self._say(problem)
        else:
            self._close(kept=True)

    def action_complete(self) -> None:
        """Take the suggested word."""
        self.query_one(Input).action_cursor_right()

    def action_dismiss(self) -> None:
        self._close(kept=False)

    def _close(self, kept: bool) -> None:
        self.remove_class("-open")
        self.screen.remove_class("-prompting")
        self.post_message(self.Closed(kept))
