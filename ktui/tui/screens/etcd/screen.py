"""etcd: the prefix tree, the keys below one prefix, one key as it is stored and decoded."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from ktui.client.connection import ClientError
from ktui.tui.model.etcd_tree import PrefixTree, TreeRow
from ktui.tui.model.etcd_view import ROOT, KeyList, StoredKey, read_key, read_keys, read_prefixes
from ktui.tui.model.format import integer
from ktui.tui.model.state import State
from ktui.tui.screens.etcd.asking import key_path, keys_path, prefixes_path
from ktui.tui.screens.etcd.columns import PREFIXES, key_columns
from ktui.tui.screens.etcd.past import SETTLE, PastScreen
from ktui.tui.screens.etcd.value import ValueView
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.paged_table import WantingTable
from ktui.tui.widgets.rest import Rest
from ktui.tui.widgets.vtable import VTable

PAGE = 500


class EtcdScreen(PastScreen):
    """Nothing is read before it is looked at; every read is one page."""

    MODE = "etcd"
    CSS_PATH = "etcd.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "open", "open", show=False, id="etcd.open", tooltip="open the prefix"),
        Binding("left,h", "close", "close", show=False, id="etcd.close", tooltip="close the prefix"),
        Binding("v", "turn_view", "view", id="etcd.view", tooltip="YAML, JSON, stored bytes, sizes by field"),
        Binding("p", "past", "past", id="etcd.past", tooltip="revisions of the key, and what changed"),
        Binding("m", "mark", "mark", id="etcd.mark", tooltip="compare with the revision under the cursor"),
        Binding("a", "all_of_etcd", "all", id="etcd.all", tooltip="all of etcd, or Kubernetes' prefix only"),
        Binding("R", "reveal", "reveal", id="etcd.reveal", tooltip="show a Secret's values"),
        Binding("u", "read_again", "again", show=False, id="etcd.again", tooltip="read what is shown again"),
        Binding("escape", "leave", "back", show=False, id="etcd.leave", tooltip="one pane back"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.tree_rows = PrefixTree(ROOT)
        self.key_list = KeyList("")
        self._asked_of: object = None
        self._prefix_rest = Rest(self, SETTLE)

    def compose_body(self) -> ComposeResult:
        with Container(id="etcd-panes"):
            with Container(id="tree-box", classes="box"):
                yield VTable[TreeRow](PREFIXES, key=lambda row: row.prefix, id="tree", empty="reading …")
            with Container(id="right"):
                with Container(id="keys-box", classes="box"):
                    yield WantingTable[StoredKey](
                        key_columns(lambda: self.key_list.prefix),
                        key=lambda row: row.key,
                        id="keys",
                        empty="choose a prefix",
                    )
                    yield self.revisions_table()
                yield ValueView(id="value-box", classes="box")

    @property
    def prefixes(self) -> VTable[TreeRow]:
        return self.query_one("#tree", VTable)

    @property
    def keys(self) -> WantingTable[StoredKey]:
        return self.query_one("#keys", WantingTable)

    def object_in_hand(self) -> tuple[str, Any] | None:
        detail = self.value.detail
        return None if detail is None else (detail.key, detail.json)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "reveal":
            return self.value.redacted
        if action in ("past", "mark"):
            return self.value.detail is not None and (action == "mark") is (self.past is not None)
        if action == "turn_view":
            return self.past is None
        return super().check_action(action, parameters)

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#tree-box").border_title = line(ROOT)
        self.query_one("#keys-box").border_title = line("keys")
        self.prefixes.focus()

    def paint_panels(self, state: State) -> None:
        """The tree's root is read as soon as there is a server, and anew for another one."""
        client = self.ktui.client
        if client is None:
            self._say(self.prefixes, self._why_nobody_answers())
        elif client is not self._asked_of:
            self._asked_of = client
            self._plant(self._home(state))

    def _plant(self, root: str) -> None:
        self.tree_rows = PrefixTree(root)
        self.key_list = KeyList("")
        self.prefixes.empty = "reading …"
        self._show_tree()
        self._open(root)

    def action_all_of_etcd(self) -> None:
        """Turn between all of etcd and the place where Kubernetes keeps its keys."""
        if self.ktui.client is not None:
            self.close_past()
            self.prefixes.focus()
            self._plant("" if self.tree_rows.root else self._home(self.ktui.state))

    @staticmethod
    def _home(state: State) -> str:
        return (state.server.etcd_prefix.rstrip("/") + "/") if state.server is not None else ROOT

    def _show_tree(self) -> None:
        tree = self.tree_rows
        box = self.query_one("#tree-box")
        box.border_title = line(tree.root or "all of etcd")
        if not self.prefixes.filter:
            box.border_subtitle = line(
                (f"revision {integer(tree.revision)}" if tree.revision else "", "$ink-muted")
            )
        self.prefixes.set_rows(tree.rows())

    def _show_keys(self) -> None:
        keys = self.key_list
        read = "" if keys.complete else f"{integer(len(keys.keys))} of "
        box = self.query_one("#keys-box")
        box.border_title = line(f"{self._below_root(keys.prefix)} · {read}{integer(keys.count)}")
        self.keys.empty = "no key here"
        self.keys.set_rows(list(keys.keys))

    def _below_root(self, prefix: str) -> str:
        return prefix.removeprefix(self.tree_rows.root) or prefix

    def _say(self, table: VTable[Any], text: str) -> None:
        if table.empty != text or table.total:
            table.empty = text
            table.set_rows(())

    # The tree.

    @on(VTable.Highlighted, "#tree")
    def _prefix_highlighted(self, event: VTable.Highlighted) -> None:
        prefix = event.row.prefix
        if prefix != self.key_list.prefix:
            self._prefix_rest.then(lambda: self._start_keys(prefix))

    @on(VTable.Selected, "#tree")
    def _prefix_selected(self, event: VTable.Selected) -> None:
        row: TreeRow = event.row
        if row.child.leaf:
            self.keys.focus()
        elif self.tree_rows.is_open(row.prefix):
            self.tree_rows.close(row.prefix)
            self._show_tree()
        else:
            self._open(row.prefix)

    def action_open(self) -> None:
        row = self.prefixes.row
        if not self.prefixes.has_focus or row is None:
            self._focus_next()
        elif row.child.leaf or row.open:
            self.keys.focus()
        else:
            self._open(row.prefix)

    def action_close(self) -> None:
        row = self.prefixes.row
        if not self.prefixes.has_focus:
            self.action_leave()
        elif row is not None and row.open:
            self.tree_rows.close(row.prefix)
            self._show_tree()
        elif row is not None and (parent := self.tree_rows.parent_of(row.prefix)):
            shown = [each.prefix for each in self.prefixes.rows]
            self.prefixes.move_to(shown.index(parent) if parent in shown else 0)

    def _open(self, prefix: str) -> None:
        if self.tree_rows.begin(prefix):
            self._read_prefix(self.tree_rows, prefix)
        self._show_tree()

    @work(group="prefixes")
    async def _read_prefix(self, tree: PrefixTree, prefix: str) -> None:
        try:
            tree.put(prefix, read_prefixes(await self.ask(prefixes_path(prefix))))
        except ClientError as error:
            tree.fail(prefix, str(error))
            self._tell(tree, prefix, str(error))
        if tree is not self.tree_rows:
            return
        if tree.root and tree.knows(tree.root) and not tree.rows():  # no Kubernetes here: show what there is
            self._plant("")
        else:
            self.prefixes.empty = self.prefixes.empty if tree.rows() else self._nothing_below(tree)
            self._show_tree()

    def _tell(self, tree: PrefixTree, prefix: str, problem: str) -> None:
        if prefix == tree.root:
            self.prefixes.empty = "could not be read"
            self.value.fail(problem)
        else:
            self.notify(problem, title=prefix, severity="error", markup=False)

    def _nothing_below(self, tree: PrefixTree) -> str:
        return "this etcd holds no key" if tree.knows(tree.root) else self.prefixes.empty

    # The keys.

    def _start_keys(self, prefix: str) -> None:
        self.close_past()
        self.key_list = KeyList(prefix)
        self.query_one("#keys-box").border_title = line(self._below_root(prefix))
        self._say(self.keys, "reading …")
        self.value.clear()
        self._read_keys(self.key_list)

    @on(WantingTable.Wanted)
    def _keys_wanted(self, event: WantingTable.Wanted) -> None:
        # A filter shows few rows of many: it must not make the whole prefix be read.
        if not self.keys.filter and self.key_list.keys and self.key_list.wants_more(event.last, PAGE // 5):
            self._read_keys(self.key_list)

    @work(group="keys", exclusive=True)
    async def _read_keys(self, keys: KeyList) -> None:
        try:
            page = read_keys(await self.ask(keys_path(keys.prefix, PAGE, keys.after)))
        except ClientError as error:
            if keys is self.key_list:
                self._say(self.keys, "could not be read")
                self.value.fail(str(error))
            return
        keys.extend(page)
        if keys is self.key_list:
            self._show_keys()

    @on(VTable.Highlighted, "#keys")
    def _key_highlighted(self, event: VTable.Highlighted) -> None:
        key = event.row.key
        self._key_rest.then(lambda: self._read_value(key, reveal=False))

    @on(VTable.Selected, "#keys")
    def _key_selected(self) -> None:
        self.value.focus_view()

    # One key.

    @work(group="value", exclusive=True)
    async def _read_value(self, key: str, reveal: bool) -> None:
        self.value.reading(key)
        try:
            self.value.show(read_key(await self.ask(key_path(key, reveal))), revealed=reveal)
        except ClientError as error:
            self.value.fail(str(error))
        self.refresh_bindings()

    def action_turn_view(self) -> None:
        self.value.turn()

    def action_reveal(self) -> None:
        if self.past is not None:
            self.past.reveal = True
            self.compare(self.past)
        elif self.value.detail is not None:
            self._read_value(self.value.detail.key, reveal=True)

    def action_read_again(self) -> None:
        if self.past is not None:
            self.action_past()
        elif self.keys.has_focus and self.key_list.prefix:
            self._start_keys(self.key_list.prefix)
        else:
            reopen = self.tree_rows.open_prefixes
            self.tree_rows.forget()
            for prefix in reopen or [self.tree_rows.root]:
                self._open(prefix)

    def _focus_next(self) -> None:
        if self.keys.has_focus or self.revisions.has_focus:
            self.value.focus_view()

    def action_leave(self) -> None:
        past = self.past
        if past is not None and self.revisions.has_focus:
            self.close_past()
            self._show_keys()
            self.keys.focus()
            self._read_value(past.key, reveal=past.reveal)
        elif past is not None:
            self.revisions.focus()
        else:
            self._leave_pane()

    def _leave_pane(self) -> None:
        (self.prefixes if self.keys.has_focus else self.keys).focus()
