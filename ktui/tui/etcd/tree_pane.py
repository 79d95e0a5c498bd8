"""The tree of prefixes; each branch is read when it is opened."""

from __future__ import annotations

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.core.format import integer
from ktui.core.state import State
from ktui.tui.etcd.etcd_rows import PREFIXES, PrefixTree, TreeRow
from ktui.tui.etcd.places import ROOT, SETTLE, Debounce, prefixes_down_to
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line


class TreePane(ServerPane):
    """`branches` has what was read; while `detached`, the keys shown are not those under the cursor."""

    class Rested(Message):
        """The cursor has stopped on a prefix."""

        def __init__(self, prefix: str) -> None:
            super().__init__()
            self.prefix = prefix

    class Entered(Message):
        """Enter was pressed on a prefix without inner prefixes."""

    class Moved(Message):
        """The user has moved the cursor."""

    def __init__(self) -> None:
        super().__init__(id="tree-box", classes="box")
        self.branches = PrefixTree(ROOT)
        self.detached = False
        self._goal = ""  # prefix that the cursor moves to as its branches are read
        self._debounce = Debounce(self, SETTLE)
        self._refused_at: float | None = None  # Unix seconds when reading the root failed

    def compose(self) -> ComposeResult:
        yield VTable[TreeRow](PREFIXES, key=lambda row: row.prefix, id="tree", empty="reading …")

    def on_mount(self) -> None:
        self.border_title = line(ROOT)

    @property
    def table(self) -> VTable[TreeRow]:
        return self.query_one("#tree", VTable)

    # Root and branches.

    def set_root(self, root: str) -> None:
        """Read the tree again, from `root`."""
        self.branches = PrefixTree(root)
        self.detached, self._goal = False, ""
        self._refused_at = None
        self.table.empty = "reading …"
        self._show()
        self.open(root)

    def may_retry(self, state: State) -> bool:
        """Return True if reading the root has failed and etcd has answered since."""
        refused, health = self._refused_at, state.health
        return refused is not None and health is not None and health.ok and health.at >= refused

    def open(self, prefix: str) -> None:
        """Open a prefix and read what is below it."""
        if self.branches.begin(prefix):
            self._read(self.branches, prefix)
        self._show()

    def close(self, row: TreeRow) -> None:
        """Close a branch, or move the cursor to its parent if it is closed."""
        if row.open:
            self.branches.close(row.prefix)
            self._show()
        elif parent := self.branches.parent_of(row.prefix):
            shown = [each.prefix for each in self.table.rows]
            self.table.move_to(shown.index(parent) if parent in shown else 0)

    def show_prefix(self, prefix: str) -> None:
        """Open the branches above a prefix and move the cursor there; the caller reads the keys."""
        self.detached, self._goal = True, prefix
        for item in prefixes_down_to(prefix, self.branches.root):
            self.open(item)

    def read_again(self) -> None:
        reopen = self.branches.open_prefixes
        self.branches.mark_stale()
        for prefix in reopen or [self.branches.root]:
            self.open(prefix)

    # The cursor.

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        prefix = event.row.prefix
        if event.by_user:
            self.detached, self._goal = False, ""
            self.post_message(self.Moved())
        if not self.detached:
            self._debounce.schedule(lambda: self._rested(prefix))

    def _rested(self, prefix: str) -> None:
        if not self.detached:
            self.post_message(self.Rested(prefix))

    @on(VTable.Selected)
    def _selected(self, event: VTable.Selected) -> None:
        row: TreeRow = event.row
        if row.child.leaf:
            self.post_message(self.Entered())
        elif self.branches.is_open(row.prefix):
            self.close(row)
        else:
            self.open(row.prefix)

    # Reading.

    @work(group="prefixes")
    async def _read(self, tree: PrefixTree, prefix: str) -> None:
        try:
            tree.put(prefix, await self.server.prefixes(prefix))
        except ClientError as error:
            tree.fail(prefix, str(error))
            self._fail(tree, prefix, str(error))
        if tree is not self.branches:
            return
        if tree.root and tree.knows(tree.root) and not tree.rows():  # no Kubernetes keys: show all of etcd
            self.set_root("")
            return
        if not tree.rows() and tree.knows(tree.root):
            self.table.empty = "this etcd is empty"
        self._show()

    def _fail(self, tree: PrefixTree, prefix: str, problem: str) -> None:
        if prefix == tree.root:
            self._refused_at = self.ktui.state.now
            self.table.empty = "could not be read"
            self.post_message(self.Failed(problem))
        else:
            self.notify(problem, title=prefix, severity="error", markup=False)

    def _show(self) -> None:
        tree = self.branches
        self.border_title = line(tree.root or "all of etcd")
        if not self.table.filter:
            subtitle = f"revision {integer(tree.revision)}" if tree.revision else ""
            self.border_subtitle = line((subtitle, "$ink-muted"))
        self.table.set_rows(tree.rows())
        self._follow_goal()

    def _follow_goal(self) -> None:
        """Move the cursor to the goal, or to the nearest prefix above it that has been read."""
        if not self._goal:
            return
        rows = list(self.table.rows)
        nearest = max(
            (row for row in rows if self._goal.startswith(row.prefix)),
            key=lambda row: len(row.prefix),
            default=None,
        )
        if nearest is None:
            return
        if nearest.prefix == self._goal:
            self._goal = ""
        if self.table.row is not nearest:
            self.table.move_to(rows.index(nearest), by_user=False)
