"""The choice of an expensive read to compare with a cheaper variant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.core.ranking.rank_lines import shape_runs
from ktui.core.ranking.ranking import Group
from ktui.core.ranking.remedies import compare_group
from ktui.core.references import Place
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line, pad

MOST = 9  # reads: one for each digit


def choose_read(app: Dashboard, resource: str = "") -> None:
    """Let the user choose one of the most expensive LISTs (of `resource`) and compare it in the Lab."""
    groups = [
        group
        for group in app.state.ranking.ranked()
        if group.key.shape.verb == "list"
        and group.failed < group.count
        and resource in ("", group.key.shape.resource)
    ][:MOST]
    if not groups:
        of = f" of {resource}" if resource else ""
        app.notify(f"no LIST{of} was answered yet", markup=False)
        return

    def chosen(group: Group | None) -> None:
        if group is not None:
            app.go_to(Place("lab", compare_group(group, app.state)))

    app.push_screen(CompareDialog(groups), chosen)


class CompareDialog(Dialog[Group | None]):
    """Returns the group of reads to compare; None if cancelled."""

    DEFAULT_CSS = """
    CompareDialog > OptionList { width: 100; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.COMPARE

    def __init__(self, groups: Sequence[Group]) -> None:
        super().__init__()
        self._groups = groups

    def compose(self) -> ComposeResult:
        options = OptionList(*map(self._option, range(len(self._groups))), markup=False)
        options.border_title = "compare with a cheaper variant: the most expensive reads"
        cancels = key_hints(("compare.close", "cancels")).plain
        options.border_subtitle = line("a digit or enter sends both · ", cancels)
        yield options

    def _option(self, place: int) -> Option:
        key = self._groups[place].key
        number, client = (f"{place + 1} ", "$accent"), (pad(key.client, 20) + " ", "$ink-strong")
        return Option(line(number, client, *shape_runs(key.shape)))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._groups[event.option_index])

    def on_key(self, event: Key) -> None:
        """A digit chooses at once."""
        if event.key in "123456789" and int(event.key) <= len(self._groups):
            event.stop()
            self.dismiss(self._groups[int(event.key) - 1])
