"""The prefix tree as rows: the children of a prefix are read when it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.contract.etcd import PrefixChild, PrefixPage


@dataclass(frozen=True, slots=True, eq=False)
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
        self._open: set[str] = set()
        self._reading: set[str] = set()
        self._problems: dict[str, str] = {}
        self._rows: dict[str, TreeRow] = {}

    def knows(self, prefix: str) -> bool:
        """Return True if the children of `prefix` have been read."""
        return prefix in self._children

    def begin(self, prefix: str) -> bool:
        """Open a prefix. Return True if its children must be read first."""
        self._open.add(prefix)
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
        self._open.discard(prefix)
        self._problems[prefix] = problem

    def close(self, prefix: str) -> None:
        self._open.discard(prefix)

    def is_open(self, prefix: str) -> bool:
        return prefix in self._open

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
        shown = {self.root, *self._open}
        return min((at for prefix, at in self._read_at.items() if prefix in shown), default=0)

    @property
    def open_prefixes(self) -> list[str]:
        return sorted(self._open)

    def rows(self) -> list[TreeRow]:
        """Return the visible rows in order; unchanged rows are the same objects as before."""
        before, self._rows = self._rows, {}
        self._collect(self.root, 0, before)
        return list(self._rows.values())

    def _collect(self, parent: str, depth: int, before: dict[str, TreeRow]) -> None:
        for child in self._children.get(parent, ()):
            row = self._row(child, parent, depth)
            old = before.get(child.prefix)
            self._rows[child.prefix] = old if old is not None and _same(old, row) else row
            if row.open and not child.leaf:
                self._collect(child.prefix, depth + 1, before)

    def _row(self, child: PrefixChild, parent: str, depth: int) -> TreeRow:
        prefix = child.prefix
        return TreeRow(
            child,
            label=child.label(parent),
            depth=depth,
            open=prefix in self._open and prefix in self._children,
            reading=prefix in self._reading,
            problem=self._problems.get(prefix, ""),
        )


def _same(item: TreeRow, other: TreeRow) -> bool:
    return (item.child, item.open, item.reading, item.problem) == (
        other.child,
        other.open,
        other.reading,
        other.problem,
    )
