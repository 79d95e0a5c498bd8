"""The line at the bottom where a filter or a command is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from ktui.core.format import safe
from ktui.tui.keys import bindings as keys
from ktui.tui.prompt.line_field import LineField
from ktui.tui.prompt.line_help import Completing, Help, InputHistory
from ktui.tui.prompt.suggestions import Suggested, Suggestions


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
    BINDINGS: ClassVar[list[BindingType]] = keys.PROMPT

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
        self._said = Content("")
        self._help: Help | None = None
        self._past: InputHistory | None = None
        self._suggest: Callable[[str], Sequence[Suggested]] | None = None

    def furnish(self) -> None:
        """Make the parts: not before the first frame, and at the latest when it is opened."""
        if not self.children:
            field = LineField(compact=True, select_on_focus=False)
            field.cursor_blink = False
            sign, hint = (Static("", id=f"prompt-{part}", markup=False) for part in ("sign", "hint"))
            self.mount(sign, field, hint)

    def open(
        self,
        sign: str,
        text: str,
        *,
        hint: str,
        typed: Callable[[str], str],
        entered: Callable[[str], str],
        helping: Help | None = None,
        past: InputHistory | None = None,
        suggest: Callable[[str], Sequence[Suggested]] | None = None,
    ) -> None:
        """Open with `text`. `typed` and `entered` return what is wrong, "" when nothing is.

        `helping` completes the line and hints at how it can go on; `past` is walked with up and
        down. What `suggest` gives is listed above the line: tab chooses from it, and so do the
        arrows once something has been typed.
        """
        self._typed, self._entered, self._hint = typed, entered, hint
        self._help, self._past, self._suggest = helping, past, suggest
        if past is not None:
            past.begin()
        self.furnish()
        self.query_one("#prompt-sign", Static).update(Content(sign))
        field = self.query_one(Input)
        field.suggester = Completing(helping.completion) if helping is not None else None
        with field.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self._say("", text)
        self._offer(text)
        self.add_class("-open")
        self.screen.add_class("-prompting")
        self.screen.set_focus(field)  # at once: the next key is meant for it

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def _say(self, problem: str, text: str) -> None:
        hint = self.query_one("#prompt-hint", Static)
        hint.set_class(bool(problem), "-problem")
        phrase = Content(safe(problem or (self._help.hint(text) if self._help is not None else self._hint)))
        before, self._said = self._said, phrase
        if phrase != before:  # of another width, the line is laid out again: not at each letter
            hint.update(phrase, layout=phrase.cell_length != before.cell_length)

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.is_open:
            return
        if event.value == "?" and self._help is not None:
            event.input.value = ""
            self._help.popup()
        else:
            self._say(self._typed(event.value), event.value)
            self._offer(event.value)

    @on(Input.Submitted)
    def _on_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._enter(event.value)

    def _enter(self, text: str) -> None:
        problem = self._entered(text)
        if problem:
            self._say(problem, text)
            if cell_len(problem) > self.query_one("#prompt-hint").size.width:  # choices are not cut
                self.notify(safe(problem), severity="error", markup=False)
            return
        if self._past is not None:
            self._past.add(text)
        self._close(kept=True)

    # Suggestions.

    @property
    def suggestions(self) -> Suggestions | None:
        """The list over the line, where the screen has one."""
        return next(iter(self.screen.query(Suggestions)), None)

    def _offer(self, text: str) -> None:
        if (listed := self.suggestions) is not None:
            listed.offer(self._suggest(text) if self._suggest is not None else ())

    def action_complete(self, step: int) -> None:
        """Take the suggested word; of several the next one."""
        listed = self.suggestions
        if listed is None or not listed.shown:
            self.query_one(Input).action_cursor_right()
        elif (item := listed.choose(step)) is not None:
            self._take(item, go_on=len(listed.shown) == 1)

    def _take(self, item: Suggested, go_on: bool) -> None:
        """Write it into the line; the list stays, so that the next one can be chosen."""
        field = self.query_one(Input)
        text = safe(item.text)
        if go_on and item.more and text[-1:].isalnum():  # a word is to follow, not the value of `client:`
            text += " "
        with field.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self._say("", text)
        if go_on:
            self._offer(text)

    def _chooses(self) -> bool:
        """Whether the arrows choose from the list: something is typed, and the history is not walked."""
        listed = self.suggestions
        walking = self._past is not None and self._past.walking
        return listed is not None and bool(listed.shown and self.query_one(Input).value) and not walking

    def pick(self, event: Suggestions.Picked) -> None:
        """A click is a choice and enter."""
        self._take(event.suggestion, go_on=event.suggestion.more)
        if not event.suggestion.more:
            self._enter(self.query_one(Input).value)

    def action_older(self) -> None:
        if self._chooses():
            self.action_complete(-1)
        elif self._past is not None:
            self._show(self._past.older(self.query_one(Input).value))

    def action_newer(self) -> None:
        if self._chooses():
            self.action_complete(1)
        elif self._past is not None:
            self._show(self._past.newer(self.query_one(Input).value))

    def _show(self, text: str | None) -> None:
        if text is not None:
            field = self.query_one(Input)
            field.value = text
            field.cursor_position = len(text)

    def action_explain(self) -> None:
        if self._help is not None:
            self._help.popup()

    def say_again(self) -> None:
        """What the hint depends on has changed, though nothing was typed."""
        if not self.is_open:
            return
        text = self.query_one(Input).value
        if not self.query_one("#prompt-hint").has_class("-problem"):
            self._say("", text)

    def action_dismiss(self) -> None:
        self._close(kept=False)

    def _close(self, kept: bool) -> None:
        if (listed := self.suggestions) is not None:
            listed.offer(())
        self.remove_class("-open")
        self.screen.remove_class("-prompting")
        self.post_message(self.Closed(kept))
