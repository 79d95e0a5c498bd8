"""The etcd screen: keys as a tree or by prefix, values and their history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static

from ktui.client.connection import ClientError
from ktui.core.object_lines import yaml_text
from ktui.core.prediction.assumptions import server_behaviour
from ktui.core.references import Crumb, KeyRef, Place, PrefixRef, Reference
from ktui.core.state import State
from ktui.kube.versions import BehaviourError
from ktui.tui.dialogs.text import pretty
from ktui.tui.etcd.history_pane import HistoryPane
from ktui.tui.etcd.keys_pane import KeysPane
from ktui.tui.etcd.tree_pane import TreePane
from ktui.tui.etcd.value_pane import ValueView
from ktui.tui.navigation.related import etcd_root
from ktui.tui.screen_bases.server_screen import ServerPane, ServerScreen
from ktui.tui.screen_bases.table_screen import Copies
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.line_view import LineView
from ktui.tui.widgets.lines import line


def no_streams(state: State) -> str:
    """Return that etcd has no RangeStream and when it is asked again; "" if it has, or was not asked."""
    recheck_at = state.health.stream_recheck_at if state.health is not None else 0.0
    try:
        if not recheck_at or not server_behaviour(state).enabled("EtcdRangeStream"):
            return ""
    except BehaviourError:
        return ""
    left = math.ceil((recheck_at - state.now) / 60.0)
    again = f"in {left} {'minute' if left == 1 else 'minutes'}" if left > 0 else "with the next LIST of etcd"
    return f"this etcd has no RangeStream: collections are read in pages; asked again {again}"


class EtcdScreen(ServerScreen, mode="etcd"):
    """Reads only what is shown, a page at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.prefixes, self.keys, self.past = TreePane(), KeysPane(), HistoryPane()
        self.value = ValueView()
        self._read_from: object = None  # the client with which the tree was read
        self._histories = 0  # of etcd, when the tree was read

    def compose_body(self) -> ComposeResult:
        with Container(id="etcd-panes"):
            yield self.prefixes
            with Container(id="right"):
                yield self.keys
                yield self.past
                yield self.value
        yield Static(id="streams", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.prefixes.table.focus()

    def paint_panels(self, state: State) -> None:
        self._read_if_needed(state)
        text = no_streams(state)
        streams = self.query_one("#streams", Static)
        streams.display = bool(text)
        streams.update(line((text, "$ink-muted")))

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        focused, prefix, past, detail = self.focused, self.keys.list.prefix, self.past.past, self.value.detail
        if focused is None or focused is self.prefixes.table:
            return ()
        key = self.keys.wanted if focused is self.keys.table or detail is None else detail.key
        key = key if past is None else past.key
        below = prefix.removeprefix(self.prefixes.branches.root).rstrip("/") or prefix
        found = [Crumb(below, Place("etcd", PrefixRef(prefix)))] if prefix else []
        found += [Crumb(key.removeprefix(prefix), Place("etcd", KeyRef(key)))] if key else []
        return found if past is None else [*found, Crumb("revisions", Place("etcd", KeyRef(key, past=True)))]

    def on_descendant_focus(self) -> None:
        self.moved()

    def references(self) -> Sequence[Reference]:
        if self.past.past is not None:
            row = self.past.table.row
            return (KeyRef(self.past.past.key, row.mod_revision if row is not None else 0),)
        if self.prefixes.table.has_focus:
            row_of_tree = self.prefixes.table.row
            return () if row_of_tree is None else (PrefixRef(row_of_tree.prefix),)
        key = self.keys.table.row
        return () if key is None else (KeyRef(key.key),)

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

    # Opening a reference.

    def visit(self, reference: Reference | None) -> None:
        """Show a prefix, a key, or a key's revisions; None is the tree."""
        self.past.close()
        if isinstance(reference, KeyRef):
            self._go_to_prefix(reference.key[: reference.key.rfind("/") + 1])
            self.keys.select_key(reference.key)  # its prefix may have been read already
            self.read_selected(partial(self._read_wanted, reference))
        elif isinstance(reference, PrefixRef):
            self._go_to_prefix(reference.prefix)
        else:
            self.prefixes.table.focus()

    def _go_to_prefix(self, prefix: str) -> None:
        self.prefixes.show_prefix(prefix)
        if prefix != self.keys.list.prefix:
            self._start_keys(prefix)
        self.keys.select_key("")
        self.keys.table.focus()

    async def _read_wanted(self, wanted: KeyRef) -> None:
        """Show a key's value, even if the list of keys has not been read up to it."""
        await self._show_value(wanted.key)
        found = self.value.detail is not None and self.value.detail.key == wanted.key
        if found and (wanted.past or wanted.revision):
            self.past.open(wanted.key, wanted.revision)
        elif wanted.revision:  # gone since
            await self._show_value(wanted.key, revision=wanted.revision - 1)

    # The tree.

    def _read_if_needed(self, state: State) -> None:
        """Read the tree's root once there is a server; from another server what is shown, too."""
        client = self.ktui.client
        if client is None:
            self.prefixes.say(self.prefixes.table, self.why_no_answer())
        elif client is not self._read_from or state.head.histories != self._histories:
            self._read_from, self._histories = client, state.head.histories
            prefix = self.keys.list.prefix
            key = self.value.detail.key if self.value.detail is not None else self.keys.wanted
            self._set_root(etcd_root(state))
            if prefix:
                self.prefixes.show_prefix(prefix)
                self._start_keys(prefix)
            if key:
                self.keys.select_key(key)
                self._read_value(key)
        elif self.prefixes.may_retry(state):
            self._set_root(self.prefixes.branches.root)

    def _set_root(self, root: str) -> None:
        """Clear all panes, whose data may be of another server or history, and read the tree from `root`."""
        self.past.close()
        self.value.clear()
        self.keys.clear()
        self.prefixes.set_root(root)

    # Messages of the panes.

    @on(VTable.Highlighted, "#tree")
    def _somewhere_else(self, event: VTable.Highlighted) -> None:
        if event.by_user:
            self.keys.select_key("")

    @on(TreePane.Rested)
    def _prefix_rested(self, event: TreePane.Rested) -> None:
        if event.prefix != self.keys.list.prefix:
            self._start_keys(event.prefix)

    def _start_keys(self, prefix: str) -> None:
        self.past.close()
        self.value.clear()
        self.keys.start(prefix, self.prefixes.branches.root)

    @on(VTable.Selected, "#tree")
    def _to_keys(self, event: VTable.Selected) -> None:
        if event.row.child.leaf:
            self.keys.table.focus()

    @on(KeysPane.Rested)
    def _key_rested(self, event: KeysPane.Rested) -> None:
        self._read_value(event.key)

    @on(VTable.Selected, "#keys")
    @on(VTable.Selected, "#revisions")
    def _to_value(self) -> None:
        self.value.focus_view()

    @on(ServerPane.Failed)
    def _failed(self, event: ServerPane.Failed) -> None:
        self.value.fail(event.problem)

    # The value.

    def _read_value(self, key: str, *, reveal: bool = False) -> None:
        self.read_selected(partial(self._show_value, key, reveal=reveal))

    async def _show_value(self, key: str, *, reveal: bool = False, revision: int = 0) -> None:
        self.value.reading(key)
        try:
            stored = await self.server.key(key, revision=revision, reveal=reveal)
            self.value.show(stored, revealed=reveal)
        except ClientError as error:
            self.value.fail(str(error))
        self.refresh_bindings()

    @on(HistoryPane.Compared)
    def _compared(self, event: HistoryPane.Compared) -> None:
        past = self.past.past
        if past is not None and past.key == event.after.key:
            change = event.before, event.change
            self.value.show(event.after, revealed=past.reveal, change=change)
            self.refresh_bindings()

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
        if self.ktui.client is not None:
            self.prefixes.table.focus()
            self._set_root("" if self.prefixes.branches.root else etcd_root(self.ktui.state))

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
            self._read_value(self.value.detail.key, reveal=True)

    def action_read_again(self) -> None:
        """Read all that is shown again; the values of a Secret are hidden again."""
        self.prefixes.read_again()
        self.keys.read_again()
        detail = self.value.detail
        if self.past.past is not None:
            self.past.open(self.past.past.key)
        elif detail is not None:
            self._read_value(detail.key)

    def action_leave(self) -> None:
        past = self.past.past
        if past is not None and self.past.table.has_focus:
            self.past.close()
            self.keys.show()
            self.keys.table.focus()
            self._read_value(past.key, reveal=past.reveal)
        elif past is not None:
            self.past.table.focus()
        else:
            (self.prefixes.table if self.keys.table.has_focus else self.keys.table).focus()
