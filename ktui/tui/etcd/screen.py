"""The etcd screen: the prefix tree, the keys below one prefix, one key as stored and decoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ktui.core.object_lines import yaml_text
from ktui.core.references import Crumb, Reference
from ktui.core.state import State
from ktui.tui.dialogs.text import pretty
from ktui.tui.etcd.panes import EtcdPanes
from ktui.tui.keys import bindings as keys
from ktui.tui.screen_bases.filtering import Copies
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.widgets.line_view import LineView


class EtcdScreen(ServerScreen):
    """Reads only what is shown, a page at a time."""

    MODE = "etcd"
    CSS_PATH = "etcd.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.ETCD

    def __init__(self) -> None:
        super().__init__()
        self.panes = panes = EtcdPanes()
        self.prefixes, self.keys, self.past, self.value = panes.prefixes, panes.keys, panes.past, panes.value

    def compose_body(self) -> ComposeResult:
        yield self.panes

    def on_mount(self) -> None:
        super().on_mount()
        self.prefixes.table.focus()

    def paint_panels(self, state: State) -> None:
        self.panes.read_if_needed(state)

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        return tuple(self.panes.location.crumbs(self.prefixes.branches.root))

    def on_descendant_focus(self) -> None:
        self.moved()

    def visit(self, reference: Reference | None) -> None:
        self.panes.visit(reference)

    def references(self) -> Sequence[Reference]:
        return self.panes.references()

    def selected_object(self) -> tuple[str, Any] | None:
        detail = self.value.detail
        return None if detail is None else (detail.key, detail.json)

    def copies(self) -> Copies:
        detail = self.value.detail
        if detail is None or not isinstance(self.focused, LineView):
            return super().copies()
        key, number = ("the key", detail.key), ("its mod_revision", str(detail.mod_revision))
        if detail.json is None:
            return (("the value", detail.text or detail.hex), key, number)
        return (("YAML", yaml_text(detail.json)), ("JSON", pretty(detail.json)), key, number)

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "reveal":
            return self.value.redacted
        if action in ("past", "mark"):
            return self.value.detail is not None and (action == "mark") is (self.past.past is not None)
        if action == "turn_view":
            return self.past.past is None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        row = self.prefixes.table.row
        if not self.prefixes.table.has_focus or row is None:
            if self.keys.table.has_focus or self.past.table.has_focus:
                self.value.focus_view()
        elif row.child.leaf or row.open:
            self.keys.table.focus()
        else:
            self.prefixes.open(row.prefix)

    def action_close(self) -> None:
        row = self.prefixes.table.row
        if not self.prefixes.table.has_focus:
            self.action_leave()
        elif row is not None:
            self.prefixes.close(row)

    def action_all_of_etcd(self) -> None:
        """Switch between all of etcd and the prefix of Kubernetes' keys."""
        self.panes.turn_root()

    def action_turn_view(self) -> None:
        self.value.turn()

    def action_past(self) -> None:
        if self.value.detail is not None:
            self.past.open(self.value.detail.key)

    def action_mark(self) -> None:
        self.past.mark()

    def action_reveal(self) -> None:
        if self.past.past is not None:
            self.past.reveal()
        elif self.value.detail is not None:
            self.panes.read_value(self.value.detail.key, reveal=True)

    def action_read_again(self) -> None:
        self.panes.read_again()

    def action_leave(self) -> None:
        past = self.past.past
        if past is not None and self.past.table.has_focus:
            self.past.close()
            self.keys.show()
            self.keys.table.focus()
            self.panes.read_value(past.key, reveal=past.reveal)
        elif past is not None:
            self.past.table.focus()
        else:
            (self.prefixes.table if self.keys.table.has_focus else self.keys.table).focus()
