"""Columns of the etcd screen's tables."""

from __future__ import annotations

from collections.abc import Callable

from ktui.contract.etcd import StoredKey
from ktui.core.format import integer, interval, short_bytes, short_count
from ktui.core.table.columns import Cell, Column
from ktui.tui.etcd.history import KeyRevisions
from ktui.tui.etcd.tree import TreeRow


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
