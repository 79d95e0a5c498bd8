"""Rows and columns of the etcd screen: the tree of keys, their history."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field

from ktui.contract.etcd_documents import KeyDetail, KeyHistory, PrefixChild, PrefixPage, StoredKey
from ktui.core.format import integer, interval, short_bytes, short_count
from ktui.core.object_lines import Line, TextSpan, hex_lines, yaml_lines
from ktui.core.table.columns import Cell, Column

CONTEXT = 3  # unchanged lines around a change


class KeyRevisions:
    """The revisions of one key, newest first; each is compared with `marked`, or with the previous if 0."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.revisions: list[StoredKey] = []
        self.complete = True
        self.marked = 0
        self.reveal = False
        self._read: dict[tuple[int, bool], KeyDetail] = {}

    def put(self, page: KeyHistory) -> None:
        self.revisions, self.complete = page.revisions, page.complete

    def mark(self, revision: int) -> None:
        """Compare with this revision from now on; the same revision again removes the mark."""
        self.marked = 0 if self.marked == revision else revision

    def pair(self, revision: int) -> tuple[int, int]:
        """Return the two revisions to compare, the older first; that is 0 if there is none."""
        if self.marked and self.marked != revision:
            return min(self.marked, revision), max(self.marked, revision)
        older = [row.mod_revision for row in self.revisions if row.mod_revision < revision]
        return (older[0] if older else 0), revision

    def keep(self, detail: KeyDetail) -> None:
        self._read[detail.mod_revision, self.reveal] = detail

    def read(self, revision: int) -> KeyDetail | None:
        """Return what was read of a revision with the current `reveal`; None if nothing."""
        return self._read.get((revision, self.reveal))

    def missing(self, revision: int) -> list[int]:
        """Return the revisions to read before `revision` can be compared."""
        return [each for each in self.pair(revision) if each and self.read(each) is None]

    def grown(self, row: StoredKey) -> int | None:
        """Return the bytes by which a revision is larger than the previous one; None if unknown."""
        at = self.revisions.index(row)
        if at + 1 >= len(self.revisions):
            return row.bytes if self.complete else None
        before = self.revisions[at + 1].bytes
        return None if row.bytes is None or before is None else row.bytes - before


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines, the changed ones with a sign (+, −), and how many were added and removed."""

    lines: list[Line] = field(default_factory=list)
    added: int = 0
    removed: int = 0


def difference(old: KeyDetail | None, new: KeyDetail) -> Difference:
    """Return the changes from `old` (None: the key did not exist) to `new`, as a unified diff."""
    before = _texts(old) if old is not None else []
    lines: list[Line] = []
    added = removed = 0
    for text in list(difflib.unified_diff(before, _texts(new), n=CONTEXT, lineterm=""))[2:]:
        sign, rest = text[:1], text[1:]
        if sign == "@":
            lines.append((TextSpan(text, "dim"),))
        elif sign == "+":
            added += 1
            lines.append((TextSpan(f"+ {rest}", "added"),))
        elif sign == "-":
            removed += 1
            lines.append((TextSpan(f"− {rest}", "removed"),))
        else:
            lines.append((TextSpan(f"  {rest}", "plain"),))
    return Difference(lines, added, removed)


def _texts(detail: KeyDetail) -> list[str]:
    """Return the value's lines: YAML without the resourceVersion (always different), text, or hex."""
    if detail.json is not None:
        lines = yaml_lines(_without_revision(detail.json))
    elif detail.text:
        return detail.text.splitlines()
    else:
        lines = hex_lines(bytes.fromhex(detail.hex), detail.raw_bytes)
    return ["".join(span.text for span in line) for line in lines]


def _without_revision(value: object) -> object:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return value
    metadata = {name: item for name, item in value["metadata"].items() if name != "resourceVersion"}
    return {**value, "metadata": metadata}


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


def _prefix(row: TreeRow) -> Cell:
    sign = "$error" if row.problem else "$accent"
    return (("  " * row.depth, ""), (f"{row.sign} ", sign), (row.label, ""))


def _bytes(row: TreeRow) -> Cell:
    exact = row.child.exact
    if not exact and not row.child.bytes:  # values of Secrets: only ktui's own etcd is sampled
        return ("?", "$ink-muted")
    between = interval(row.child.low, row.child.high)
    estimated = between or f"~{short_bytes(row.child.bytes)}"
    return short_bytes(row.child.bytes) if exact else (estimated, "$ink-muted")


PREFIXES: tuple[Column[TreeRow], ...] = (
    Column("prefix", "prefix", _prefix, lambda row: row.label, width=10, flex=1, priority=0,
           tail=True, copied=lambda row: row.prefix, about="the next part of the keys under the prefix"),
    Column("keys", "keys", lambda row: short_count(row.child.count), lambda row: row.child.count, 5,
           align="right", priority=0, descending=True,
           about="keys under it, counted by count_only reads"),
    Column("bytes", "bytes", _bytes, lambda row: row.child.bytes, 6, align="right", priority=0,
           descending=True,
           about="keys and values; a range if sampled, ? not read", unit="B"),
)  # fmt: skip


def key_columns(shared: Callable[[], str]) -> tuple[Column[StoredKey], ...]:
    """Return the columns of keys that all begin with `shared()`, which their names leave out."""

    def name(row: StoredKey) -> str:
        return row.key.removeprefix(shared()) or row.key

    return (
        Column("key", "key", name, width=24, wish=28, flex=1, priority=0, tail=True,
               copied=lambda row: row.key, about="the key, without what is in the title"),
        Column("rev", "mod rev", lambda row: integer(row.mod_revision), lambda row: row.mod_revision, 9,
               align="right", priority=2, descending=True,
               about="mod_revision: the revision of its last write", unit="rv"),
        Column("version", "version", lambda row: integer(row.version), lambda row: row.version, 7,
               align="right", priority=3, descending=True,
               about="writes since it was created"),
        Column("lease", "lease", lambda row: ("ttl" if row.lease else "", "$route-wait"),
               lambda row: row.lease, 5, priority=4,
               about="time until its lease expires"),
        Column("bytes", "bytes", _size, lambda row: row.bytes or 0, 6, align="right", priority=1,
               descending=True,
               about="size of its value", unit="B"),
    )  # fmt: skip


def revision_columns(past: Callable[[], KeyRevisions]) -> tuple[Column[StoredKey], ...]:
    """Return the columns of a key's revisions; `past()` has the marked one."""

    def mark(row: StoredKey) -> Cell:
        return ("◆" if past().marked == row.mod_revision else "", "$warning")

    def grown(row: StoredKey) -> Cell:
        change = past().grown(row)
        if change is None:
            return ("?", "$ink-faint")
        return (f"{change:+,}".replace("-", "−"), "$ink-muted")

    return (
        Column("mark", "", mark, width=1, priority=0,
               about="◆ the revision that others are compared with"),
        Column("rev", "mod rev", lambda row: integer(row.mod_revision), lambda row: row.mod_revision, 10,
               copied=lambda row: str(row.mod_revision), align="right", priority=0, descending=True,
               about="mod_revision: the revision of this write", unit="rv"),
        Column("version", "version", lambda row: integer(row.version), lambda row: row.version, 7,
               align="right", priority=4, descending=True,
               about="writes since it was created"),
        Column("bytes", "bytes", lambda row: (integer(row.bytes or 0), ""), lambda row: row.bytes or 0, 8,
               align="right", priority=1, descending=True,
               about="size of the value then", unit="B"),
        Column("grown", "change", grown, width=8, align="right", priority=3,
               about="change in bytes since the revision before", unit="B"),
    )  # fmt: skip


def _size(row: StoredKey) -> Cell:
    return (short_bytes(row.bytes) if row.bytes is not None else "–", "$ink-muted")
