"""A form of one-line fields, each with a label; it marks the field that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Label

from ktui.core.format import safe
from ktui.tui.keys import bindings as keys
from ktui.tui.prompt.prompt import Completing


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form. With `choices` the value is one of these, otherwise free text.

    A `rare` field stays hidden until it has a value, or is offered.
    """

    name: str
    label: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    rare: bool = False


class ChoiceField(Widget, can_focus=True):
    """A choice between a few values; left and right change it."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab choice"]
    DEFAULT_CSS = """
    ChoiceField {
        height: 1;
        width: 1fr;
        &:focus { background: $cursor; color: $ink-strong; }
    }
    """
    value: reactive[str] = reactive("")

    def __init__(self, choices: Sequence[str], *, hint: str = "", name: str | None = None) -> None:
        super().__init__(name=name)
        self.choices = tuple(choices)
        self._hint = hint
        self.set_reactive(ChoiceField.value, self.choices[0])

    def render(self) -> Content:
        return Content(f"‹ {self.value or self._hint} ›")

    def watch_value(self) -> None:
        self.post_message(FieldForm.Changed())

    def action_submit(self) -> None:
        self.post_message(FieldForm.Submitted())

    def action_turn(self, step: int) -> None:
        at = self.choices.index(self.value) if self.value in self.choices else 0
        self.value = self.choices[(at + step) % len(self.choices)]


class TextField(Input):
    """A free-text field whose enter key submits the form."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab text field"]


class FieldForm(Grid):
    """Fields in one column, or in two with the class `-two` (on wide screens)."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab form"]
    DEFAULT_CSS = """
    FieldForm {
        height: auto;
        grid-size: 1;
        grid-rows: 1;
        grid-gutter: 0 2;
        & Horizontal { height: 1; }
        & Label { width: 21; color: $ink-muted; }
        & Horizontal:focus-within Label { color: $ink-strong; }
        & Input { width: 1fr; background: $surface; }
        & Input:focus { background: $cursor; }
        & Input > .input--placeholder { color: $ink-faint; }  /* what holds where nothing is typed */
        & .-wrong Label, & .-wrong:focus-within Label { color: $error; text-style: bold underline; }
        & .-wrong Input, & .-wrong ChoiceField { color: $error; }
    }
    """

    class Changed(Message):
        """A value has changed, by the user or by `set_value`."""

    class Submitted(Message):
        """Enter was pressed in a field."""

    def __init__(self, fields: Sequence[Field], candidates: Callable[[str], Iterable[str]]) -> None:
        """`candidates(field name)` returns the completions of a free-text field."""
        super().__init__()
        self._fields = fields
        self._candidates = candidates
        self.inputs: dict[str, Input | ChoiceField] = {}
        self._rows: dict[str, Horizontal] = {}

    def compose(self) -> ComposeResult:
        for field in self._fields:
            if field.choices:
                widget: Input | ChoiceField = ChoiceField(field.choices, hint=field.hint, name=field.name)
            else:
                completing = Completing(partial(self._completed, field.name))
                widget = TextField(placeholder=field.hint, compact=True, select_on_focus=False,
                                   name=field.name, suggester=completing)  # fmt: skip
                widget.cursor_blink = False
            self.inputs[field.name] = widget
            self._rows[field.name] = row = Horizontal(Label(field.label, markup=False), widget)
            row.display = not field.rare
            yield row

    def _completed(self, name: str, value: str) -> str:
        """Return `value` with its last comma-separated part completed; "" without a completion."""
        head, comma, part = value.rpartition(",")
        for candidate in self._candidates(name) if part else ():
            if candidate.startswith(part) and candidate != part and candidate.isprintable():
                return f"{head}{comma}{candidate}"
        return ""

    @property
    def values(self) -> dict[str, str]:
        """Field name → value without surrounding spaces."""
        return {name: widget.value.strip() for name, widget in self.inputs.items()}

    def set_value(self, name: str, value: str) -> None:
        self.inputs[name].value = safe(value)
        if value:
            self._rows[name].display = True

    def offer(self, name: str, offered: bool) -> None:
        """Show a rare field without a value too, or no more."""
        self._rows[name].display = offered or bool(self.inputs[name].value)

    def mark(self, wrong: str) -> None:
        """Mark the field named `wrong` and no other; "" marks none."""
        for name, row in self._rows.items():
            row.set_class(name == wrong, "-wrong")

    def action_move(self, step: int) -> None:
        """Focus the field above or below, in the same column if there are two."""
        now = self.screen.focused
        if now is None:
            return
        here = now.region
        others = [each for each in self.inputs.values() if (each.region.y - here.y) * step > 0]
        if others:
            nearest = min(others, key=lambda e: (abs(e.region.y - here.y), abs(e.region.x - here.x)))
            self.screen.set_focus(nearest)

    @on(Input.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed())

    @on(Input.Submitted)
    def _submitted(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Submitted())
