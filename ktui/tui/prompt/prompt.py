"""The line at the bottom in which a filter or a command is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from ktui.core.format import safe
from ktui.tui.keys import bindings as keys
from ktui.tui.memory import LineHistory
from ktui.tui.prompt.typing_help import TypingHelp
from ktui.tui.widgets.lines import line, lines, pad

_TEXT = 34  # minimal cells for suggested lines
_ABOUT = 24  # minimal cells for their descriptions, which give way to longer lines
_MARGIN = 2


class Suggestion(Struct, frozen=True):
    """A whole line, suggested, with its description; `more` is True if something must follow it."""

    text: str
    about: str
    more: bool = False


class Suggestions(Widget):
    """Covers the lines above the prompt, so that the layout stays; the best match is on top."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Suggestions {
        dock: bottom; layer: suggestions; display: none; height: auto; width: 100%; margin: 0 0 1 0;
        background: $panel; text-wrap: nowrap; text-overflow: ellipsis;
        &.-open { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.shown: Sequence[Suggestion] = ()
        self.at = -1  # index of the chosen one; -1: none

    @property
    def chosen(self) -> Suggestion | None:
        return self.shown[self.at] if 0 <= self.at < len(self.shown) else None

    def offer(self, suggestions: Sequence[Suggestion]) -> None:
        """Show these, with none chosen; hide the list if there are none."""
        if list(suggestions) == list(self.shown) and self.at == -1:
            return
        before = len(self.shown)
        self.shown, self.at = tuple(suggestions), -1
        self.set_class(bool(self.shown), "-open")
        self.refresh(layout=len(self.shown) != before)

    def choose(self, step: int) -> Suggestion | None:
        """Choose the next one down (`step` 1) or up (-1), cyclically; None if there are none."""
        if self.shown:
            self.at = (max(self.at, -1 if step > 0 else 0) + step) % len(self.shown)
            self.refresh()
        return self.chosen

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.shown)

    def render(self) -> Content:
        width = self.content_size.width
        longest = max((cell_len(item.text) for item in self.shown), default=0)
        room = max(_TEXT, min(longest, width - _MARGIN - _ABOUT))
        return lines(
            line(
                ("▸ " if at == self.at else "  ", "$accent"),
                (pad(item.text, room), "bold reverse $ink-strong" if at == self.at else "$ink-strong"),
                (" " * _MARGIN, ""),
                (item.about, "$ink-muted"),
            )
            for at, item in enumerate(self.shown)
        )

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self.shown):
            self.at = event.y
            self.screen.query_one(Prompt).pick(self.shown[event.y])


class Completing(Suggester):
    """Suggests the completion that the Input shows dimmed after the cursor."""

    def __init__(self, complete: Callable[[str], str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value) or None


_HINT_GAP = 2  # cells between the text and the hint
_LEAST_HINT = 8  # cells: a hint cut to less says nothing


class LineField(Input):
    """The prompt's input field, with a hint at the end of its line, as far as the text leaves room.

    Nothing that is typed lays out the screen: Textual's Input does so as its text grows, and a separate
    widget for the hint would as the hint's length changes.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-field--hint", "line-field--problem"}
    DEFAULT_CSS = """
    LineField {
        & > .line-field--hint { color: $ink-muted; }
        & > .line-field--problem { color: $warning; }
    }
    """
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
    hint = ""  # what can follow, or the problem
    is_problem = False

    def show_hint(self, hint: str, *, is_problem: bool) -> None:
        if (hint, is_problem) != (self.hint, self.is_problem):
            self.hint, self.is_problem = hint, is_problem
            self.refresh()

    @property
    def shown_hint(self) -> str:
        """The hint, cut to the cells that the text leaves."""
        return self._cut_hint(super().render_line(0))

    def _cut_hint(self, typed: Strip) -> str:
        width = self.scrollable_content_region.width
        cursor = self.cursor_screen_offset.x - self.content_region.x
        room = width - max(cell_len(typed.text.rstrip()), cursor + 1) - _HINT_GAP
        if cell_len(self.hint) <= room:
            return self.hint
        return set_cell_size(self.hint, room - 1).rstrip() + "…" if room >= _LEAST_HINT else ""

    def render_line(self, y: int) -> Strip:
        typed = super().render_line(y)
        hint = self._cut_hint(typed) if y == 0 else ""
        if not hint:
            return typed
        width = self.scrollable_content_region.width
        part = "problem" if self.is_problem else "hint"
        style = self.rich_style + self.get_component_rich_style(f"line-field--{part}", partial=True)
        text = typed.adjust_cell_length(width - cell_len(hint), self.rich_style)
        return Strip([*text, Segment(hint, style)])


class Prompt(Horizontal):
    """Hidden until opened. It passes what is typed to callbacks and shows the error that they return."""

    DEFAULT_CSS = """
    Prompt {
        height: 1; background: $surface; display: none; padding: 0 1;
        &.-open { display: block; }
        & > #prompt-sign { width: auto; color: $accent; text-style: bold; }
        & > Input { width: 1fr; border: none; height: 1; padding: 0 0 0 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["prompt"]

    @dataclass
    class Closed(Message):
        """The line has been closed; `kept` is False when it was dismissed."""

        kept: bool

    def __init__(self) -> None:
        super().__init__()
        self._typed: Callable[[str], str] = lambda text: ""
        self._entered: Callable[[str], str] = lambda text: ""
        self._hint = ""
        self._help: TypingHelp | None = None
        self._history: LineHistory | None = None
        self._suggest: Callable[[str], Sequence[Suggestion]] | None = None

    def mount_parts(self) -> None:
        """Mount the parts, once: after the first frame or when the prompt is opened."""
        if not self.children:
            field = LineField(compact=True, select_on_focus=False)
            field.cursor_blink = False
            self.mount(Static("", id="prompt-sign", markup=False), field)

    def open(
        self,
        sign: str,
        text: str,
        *,
        hint: str,
        typed: Callable[[str], str] = lambda text: "",
        entered: Callable[[str], str],
        line_help: TypingHelp | None = None,
        history: LineHistory | None = None,
        suggest: Callable[[str], Sequence[Suggestion]] | None = None,
    ) -> None:
        """Open with `text`. `typed` and `entered` return an error, "" if there is none.

        `line_help` completes the line and gives hints; up and down browse `history`. Its suggestions, or
        those of `suggest`, are listed above the line: tab chooses from them, and so do up and down
        once something has been typed.
        """
        self._typed, self._entered, self._hint = typed, entered, hint
        self._help, self._history, self._suggest = line_help, history, suggest
        if history is not None:
            history.begin()
        self.mount_parts()
        self.query_one("#prompt-sign", Static).update(Content(sign))
        field = self.query_one(Input)
        field.suggester = Completing(line_help.completion) if line_help is not None else None
        self._put(text)
        self._suggest_for(text)
        self.add_class("-open")
        self.screen.add_class("-prompting")
        self.screen.set_focus(field)  # not with the next message: the next key is meant for it

    @property
    def is_open(self) -> bool:
        return self.has_class("-open")

    def _show_hint(self, problem: str, text: str) -> None:
        """Show `problem`, or else the hint for `text`."""
        hint = problem or (self._help.hint(text) if self._help is not None else self._hint)
        self.query_one(LineField).show_hint(safe(hint), is_problem=bool(problem))

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.is_open:
            return
        if event.value == "?" and self._help is not None:
            event.input.value = ""
            self._help.popup()
        else:
            self._show_hint(self._typed(event.value), event.value)
            self._suggest_for(event.value)

    @on(Input.Submitted)
    def _on_entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._enter(event.value)

    def _enter(self, text: str) -> None:
        if problem := self._entered(text):
            self._show_hint(problem, text)
            field = self.query_one(LineField)
            if field.shown_hint != field.hint:  # show it in full
                self.notify(safe(problem), severity="error")
            return
        if self._history is not None:
            self._history.add(text)
        self._close(kept=True)

    # Suggestions.

    @property
    def suggestions(self) -> Suggestions:
        """The list above the line."""
        return self.screen.query_one(Suggestions)

    def _suggest_for(self, text: str) -> None:
        found = self._suggest(text) if self._suggest is not None else ()
        if self._help is not None:
            found = [Suggestion(item.text, item.about, item.more) for item in self._help.suggestions(text)]
        self.suggestions.offer(found)

    def action_complete(self, step: int) -> None:
        """Insert the next suggestion (`step` -1: the previous one)."""
        item = self.suggestions.choose(step)
        if item is None:
            self.query_one(Input).action_cursor_right()
        else:
            self._insert(item, complete=len(self.suggestions.shown) == 1)

    def _insert(self, item: Suggestion, *, complete: bool) -> None:
        """Replace the line by a suggestion; unless `complete`, the list stays for further choices."""
        text = safe(item.text)
        if complete and item.more and text[-1:].isalnum():  # another word follows, not the value of `client:`
            text += " "
        self._put(text)
        if complete:
            self._suggest_for(text)

    def _put(self, text: str) -> None:
        """Replace the line, as if it had not been typed."""
        field = self.query_one(Input)
        with field.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self._show_hint("", text)

    def pick(self, suggestion: Suggestion) -> None:
        """Insert a clicked suggestion, and enter the line if it is complete."""
        self._insert(suggestion, complete=suggestion.more)
        if not suggestion.more:
            self._enter(self.query_one(Input).value)

    def action_browse(self, step: int) -> None:
        """Go to the suggestion above (-1) or below (1), or to an earlier or later line of the history."""
        field = self.query_one(Input)
        browsing = self._history is not None and self._history.browsing
        if self.suggestions.shown and field.value and not browsing:
            self.action_complete(step)
        elif self._history is not None and (text := self._history.browse(field.value, -step)) is not None:
            field.value = text
            field.cursor_position = len(text)

    def action_explain(self) -> None:
        if self._help is not None:
            self._help.popup()

    def refresh_hint(self) -> None:
        """Update the hint after a change of what it depends on."""
        if self.is_open and not (field := self.query_one(LineField)).is_problem:
            self._show_hint("", field.value)

    def action_dismiss(self) -> None:
        self._close(kept=False)

    def _close(self, kept: bool) -> None:
        self.suggestions.offer(())
        self.remove_class("-open")
        self.screen.remove_class("-prompting")
        self.post_message(self.Closed(kept))
