"""Columns and texts of the etcd screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content

from ktui.tui.model.etcd_tree import TreeRow
from ktui.tui.model.etcd_view import KeyDetail, StoredKey, lease_id
from ktui.tui.model.format import duration, integer, long_bytes, short_bytes, short_count
from ktui.tui.widgets.columns import Cell, Column
from ktui.tui.widgets.lines import line, lines, pad


def _prefix(row: TreeRow) -> Cell:
    sign = "$error" if row.problem else "$accent"
    return (("  " * row.depth, ""), (f"{row.sign} ", sign), (row.label, ""))


def _bytes(row: TreeRow) -> Cell:
    exact = row.child.exact
    return (f"{'' if exact else '~'}{short_bytes(row.child.bytes)}", "" if exact else "$ink-muted")


PREFIXES: tuple[Column[TreeRow], ...] = (
    Column("prefix", "prefix", _prefix, lambda row: row.label, width=10, flex=1, priority=0),
    Column("keys", "keys", lambda row: short_count(row.child.count), lambda row: row.child.count, 5,
           align="right", priority=0, descending=True),
    Column("bytes", "bytes", _bytes, lambda row: row.child.bytes, 6, align="right", priority=0,
           descending=True),
)  # fmt: skip


def key_columns(prefix: Callable[[], str]) -> tuple[Column[StoredKey], ...]:
    """Columns of the keys below `prefix()`, which is left out of each name."""

    def name(row: StoredKey) -> str:
        return row.key.removeprefix(prefix()) or row.key

    return (
        Column("key", "key", name, width=30, flex=1, priority=0),
        Column("rev", "mod rev", lambda row: integer(row.mod_revision), lambda row: row.mod_revision, 9,
               align="right", priority=1, descending=True),
        Column("version", "ver", lambda row: integer(row.version), lambda row: row.version, 5, align="right",
               priority=3, descending=True),
        Column("lease", "lease", lambda row: ("ttl" if row.lease else "", "$route-wait"),
               lambda row: row.lease, 5, priority=4),
        Column("bytes", "bytes", lambda row: (short_bytes(row.bytes), "$ink-muted"), lambda row: row.bytes, 6,
               align="right", priority=2, descending=True),
    )  # fmt: skip


def about_key(detail: KeyDetail, width: int, height: int) -> Content:
    """Metadata of one key, in five lines or in three."""
    stored = f" · {detail.encoding or 'unknown encoding'} · {long_bytes(detail.raw_bytes)} stored"
    rows = [
        line((_tail(detail.key, width), "bold $ink-strong")),
        line((detail.typed or "unknown kind", "$foreground"), (stored, "$ink-muted")),
    ]
    version = f" (version {integer(detail.version)})" if detail.version else ""
    if height < 5:
        rows.append(_short_history(detail, version))
    else:
        rows.append(_revision("created", detail.create_revision))
        rows.append(_revision("changed", detail.mod_revision, version))
        rows.append(_lease(detail))
    return lines(rows)


def _short_history(detail: KeyDetail, version: str) -> Content:
    left = "" if detail.remaining is None else f" · ttl {duration(detail.remaining)}"
    return line(
        (f"rev {integer(detail.mod_revision)}", "$foreground"),
        (left, "$route-wait"),
        (f"{version} · created {integer(detail.create_revision)}", "$ink-muted"),
    )


def _lease(detail: KeyDetail) -> Content:
    if not detail.lease:
        return _labelled("lease", ("none: it stays until it is deleted", "$ink-muted"))
    left = "" if detail.remaining is None else f", {duration(detail.remaining)} left"
    return _labelled("lease", (lease_id(detail.lease), "$foreground"), (left, "$route-wait"))


def _revision(label: str, revision: int, more: str = "") -> Content:
    return _labelled(label, (f"at revision {integer(revision)}", "$foreground"), (more, "$ink-muted"))


def _labelled(label: str, *parts: tuple[str, str]) -> Content:
    return line((pad(label, 9), "$ink-muted"), *parts)


def _tail(key: str, width: int) -> str:
    """The end of a key that is too long: what tells it from its neighbours."""
    return key if len(key) <= width else f"…{key[1 - width :]}"
