"""The tree of prefixes; each branch is read when it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual import on, work
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.core.format import integer, short_bytes, short_count
from ktui.core.state import State
from ktui.core.table.columns import Cell, Column
from ktui.tui.overview.holdings import prefix_bytes
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import figure, line

ROOT = "/registry/"


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree. `problem` says why the prefix's children could not be read."""

    child: PrefixChild
    label: str
    depth: int
    open: bool = False
    reading: bool = False
    problem: str = ""

    @property
    def prefix(self) -> str:
        return self.child.prefix

    @property
    def sign(self) -> str:
        if self.child.leaf:
            return "·"
        if self.problem:
            return "!"
        return "…" if self.reading else "▾" if self.open else "▸"


class PrefixTree:
    """The known prefixes below `root`, and which of them are open."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._children: dict[str, list[PrefixChild]] = {}
        self._read_at: dict[str, int] = {}  # prefix → revision at which its children were read
        self._stale: set[str] = set()  # prefixes to read again; until then their old children are shown
        self.opened: set[str] = set()
        self._reading: set[str] = set()
        self._problems: dict[str, str] = {}

    def knows(self, prefix: str) -> bool:
        return prefix in self._children

    def begin(self, prefix: str) -> bool:
        """Open a prefix. Return True if its children must be read first."""
        self.opened.add(prefix)
        self._problems.pop(prefix, None)
        if prefix in self._reading or (prefix in self._children and prefix not in self._stale):
            return False
        self._reading.add(prefix)
        return True

    def put(self, prefix: str, page: PrefixPage) -> None:
        self._reading.discard(prefix)
        self._stale.discard(prefix)
        self._children[prefix] = page.children
        self._read_at[prefix] = page.revision

    def fail(self, prefix: str, problem: str) -> None:
        self._reading.discard(prefix)
        self.opened.discard(prefix)
        self._problems[prefix] = problem

    def close(self, prefix: str) -> None:
        self.opened.discard(prefix)

    def parent_of(self, prefix: str) -> str | None:
        """Return the prefix that `prefix` is a child of; None at the top."""
        for parent, children in self._children.items():
            if parent != self.root and any(child.prefix == prefix for child in children):
                return parent
        return None

    def mark_stale(self) -> None:
        """Have all prefixes read again when they are next opened; until then they are shown as they are."""
        self._stale.update(self._children)
        self._problems.clear()
        self._reading.clear()

    @property
    def revision(self) -> int:
        """The oldest revision of any visible branch; 0 if none has been read."""
        shown = {self.root, *self.opened}
        return min((at for prefix, at in self._read_at.items() if prefix in shown), default=0)

    def rows(self) -> list[TreeRow]:
        """Return the visible rows in order."""
        return list(self._below(self.root, 0))

    def _below(self, parent: str, depth: int) -> Iterator[TreeRow]:
        for child in self._children.get(parent, ()):
            prefix = child.prefix
            is_open, reading = prefix in self.opened and prefix in self._children, prefix in self._reading
            problem = self._problems.get(prefix, "")
            yield TreeRow(child, child.label(parent), depth, is_open, reading, problem)
            if is_open and not child.leaf:
                yield from self._below(prefix, depth + 1)


def _prefix(row: TreeRow) -> Cell:
    sign = "$error" if row.problem else "$accent"
    return (("  " * row.depth, ""), (f"{row.sign} ", sign), (row.label, ""))


PREFIXES: tuple[Column[TreeRow], ...] = (
    Column("prefix", "prefix", _prefix, lambda row: row.label, width=10, flex=1, priority=0,
           tail=True, copied=lambda row: row.prefix, about="the next part of the keys under the prefix"),
    figure("keys", "keys", lambda row: row.child.count, "keys under it, counted by count_only reads",
           priority=0, cell=lambda row: short_count(row.child.count)),
    figure("bytes", "bytes", lambda row: row.child.bytes, "keys and values; a range if sampled, ? not read",
           width=6, priority=0, unit="B",
           cell=lambda row: short_bytes(row.child.bytes) if row.child.exact else prefix_bytes(row.child)),
)  # fmt: skip


class TreePane(ServerPane):
    """`branches` has what was read; while `detached`, the keys shown are not those under the cursor."""

    @dataclass
    class Rested(Message):
        """The cursor has stopped on a prefix."""

        prefix: str

    def __init__(self) -> None:
        super().__init__(id="tree-box", classes="box")
        self.table = VTable(PREFIXES, key=lambda row: row.prefix, reuse=True, id="tree", empty="reading …")
        self.branches = PrefixTree(ROOT)
        self.detached = False
        self._goal = ""  # prefix that the cursor moves to as its branches are read
        self._refused_at: float | None = None  # Unix seconds when reading the root failed
        self.border_title = line(ROOT)

    # Root and branches.

    def set_root(self, root: str) -> None:
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
        if self.branches.begin(prefix):
            self._read(self.branches, prefix)
        self._show()

    def close(self, row: TreeRow) -> None:
        """Close a branch, or move the cursor to its parent if it is closed."""
        if row.open:
            self.branches.close(row.prefix)
            self._show()
        elif (parent := self.branches.parent_of(row.prefix)) and not self.table.go_to(parent):
            self.table.move_to(0)

    def show_prefix(self, prefix: str) -> None:
        """Open the branches above a prefix and move the cursor there; the caller reads the keys."""
        self.detached, self._goal = True, prefix
        root = self.branches.root
        if prefix.startswith(root):
            ends = [at for at, char in enumerate(prefix) if char == "/" and at >= len(root)]
            for end in ends[:-1]:
                self.open(prefix[: end + 1])

    def read_again(self) -> None:
        reopen = sorted(self.branches.opened)
        self.branches.mark_stale()
        for prefix in reopen or [self.branches.root]:
            self.open(prefix)

    # The cursor.

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        prefix = event.row.prefix
        if event.by_user:
            self.detached, self._goal = False, ""
        if not self.detached:
            self.once_settled(lambda: self._rested(prefix))

    def _rested(self, prefix: str) -> None:
        if not self.detached:
            self.post_message(self.Rested(prefix))

    @on(VTable.Selected)
    def _selected(self, event: VTable.Selected) -> None:
        row: TreeRow = event.row
        if row.prefix in self.branches.opened:
            self.close(row)
        elif not row.child.leaf:
            self.open(row.prefix)

    # Reading.

    @work(group="prefixes")
    async def _read(self, tree: PrefixTree, prefix: str) -> None:
        try:
            tree.put(prefix, await self.server.prefixes(prefix))
        except ClientError as error:
            tree.fail(prefix, str(error))
            if prefix == tree.root:
                self._refused_at = self.ktui.state.now
                self.table.empty = "could not be read"
                self.post_message(self.Failed(str(error)))
            else:
                self.notify(str(error), title=prefix, severity="error")
        if tree is not self.branches:
            return
        if tree.root and tree.knows(tree.root) and not tree.rows():  # no Kubernetes keys: show all of etcd
            self.set_root("")
            return
        if not tree.rows() and tree.knows(tree.root):
            self.table.empty = "this etcd is empty"
        self._show()

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
        above = [row for row in rows if self._goal.startswith(row.prefix)]
        if not above:
            return
        nearest = max(above, key=lambda row: len(row.prefix))
        if nearest.prefix == self._goal:
            self._goal = ""
        if self.table.row is not nearest:
            self.table.move_to(rows.index(nearest), by_user=False)
