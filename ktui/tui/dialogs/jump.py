"""The menu of places related to the row under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.core.references import Place
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.navigation.related import RelatedPlace
from ktui.tui.widgets.lines import line, pad


class JumpScreen(Dialog[Place | None]):
    """Returns the chosen place: by its letter, enter or a click; None if closed."""

    DEFAULT_CSS = """
    JumpScreen OptionList {
        height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & > .option-list--option-highlighted { background: $cursor; color: $ink-strong; text-style: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.JUMP

    def __init__(self, title: str, places: Sequence[RelatedPlace]) -> None:
        super().__init__()
        self._title = title
        self.places = tuple(places)

    def compose(self) -> ComposeResult:
        box = Vertical()
        box.border_title = line(self._title)
        box.border_subtitle = line("letter or enter opens · ", key_hints(("jump.close", "stays")).plain)
        with box:
            yield OptionList(*(Option(_prompt(item), id=str(at)) for at, item in enumerate(self.places)))

    def on_key(self, event: events.Key) -> None:
        chosen = next((item for item in self.places if item.letter == event.character), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.place)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.places[event.option_index].place)

    def action_cursor(self, step: int) -> None:
        options = self.query_one(OptionList)
        options.action_cursor_down() if step > 0 else options.action_cursor_up()


def _prompt(item: RelatedPlace) -> Content:
    return line((f" {item.letter}  ", "bold $accent"), pad(item.title, 26), (item.about, "$ink-muted"))
