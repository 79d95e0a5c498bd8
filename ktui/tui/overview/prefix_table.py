"""etcd's prefixes as a tree in a table, with counts and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType

from ktui.client.connection import ClientError
from ktui.contract.events import Prefix
from ktui.core.format import interval, short_bytes, short_count
from ktui.core.prefixes import PrefixOutline, PrefixRow
from ktui.core.table.columns import Cell, Column
from ktui.tui.charts.bars import bar
from ktui.tui.keys import bindings as keys
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import figure

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

_BAR = 8  # cells of a bar for 100%


def _name(row: PrefixRow) -> Cell:
    sign = "  " if row.leaf else "▾ " if row.open else "▸ "
    runs = [("  " * row.depth + sign, "$ink-faint"), (row.label, "$foreground")]
    if row.leased:
        runs.append((" ttl", "$route-wait"))
    return runs


def _bytes(row: PrefixRow) -> Cell:
    if not row.exact and not row.bytes:  # values of Secrets: only ktui's own etcd is sampled
        return ("?", "$ink-muted")
    between = interval(row.low, row.high)
    estimated = between or f"~{short_bytes(row.bytes)}"
    return (short_bytes(row.bytes) if row.exact else estimated, "$ink-muted")


def _share(row: PrefixRow) -> Cell:
    return (bar(row.share, _BAR), "$chart-share")


COLUMNS: tuple[Column[PrefixRow], ...] = (
    Column("prefix", "prefix", _name, lambda row: row.prefix, width=16, flex=1, priority=0,
           about="the next part of the keys under the prefix"),
    figure("keys", "keys", lambda row: row.count, "keys under it, counted by count_only reads",
           cell=lambda row: short_count(row.count)),
    figure("bytes", "bytes", lambda row: row.bytes, "keys and values; a range if sampled, ? not read",
           width=6, priority=2, unit="B", cell=_bytes),
    Column("share", "", _share, lambda row: row.share, width=_BAR, priority=4,
           about="share of all bytes"),
    Column("resource", "resource", lambda row: row.resource, width=24, priority=9, hidden=True,
           about="the Kubernetes resource stored there"),
)  # fmt: skip


class PrefixTable(VTable[PrefixRow]):
    """The top level comes with telemetry; deeper levels are requested when they are opened."""

    BINDINGS: ClassVar[list[BindingType]] = keys.TREE

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(COLUMNS, key=lambda row: row.prefix, empty="no keys counted yet", **kwargs)
        self.branches = PrefixOutline()
        self._top: Mapping[str, Prefix] = {}

    def show_prefixes(self, top: Mapping[str, Prefix], root: str) -> None:
        """Show the prefixes of the top level, below `root`."""
        self._top = top
        self.branches.root = root
        self.set_rows(self.branches.rows(top))

    def action_fold(self) -> None:
        """Close the branch under the cursor."""
        if self.row is not None and self.row.open:
            self.branches.opened.discard(self.row.prefix)
            self.set_rows(self.branches.rows(self._top))

    def action_unfold(self) -> None:
        """Open the branch under the cursor."""
        row = self.row
        if row is not None and not row.leaf and not row.open:
            self.run_worker(self._open(row.prefix), group="prefixes", exclusive=True)

    async def _open(self, prefix: str) -> None:
        client: ApiClient | None = getattr(self.app, "client", None)
        if prefix not in self.branches.children:
            if client is None:
                self.app.notify("a recording has no deeper prefixes", markup=False)
                return
            try:
                await self._fetch(client, prefix)
            except ClientError as error:
                self.app.notify(str(error), title=prefix, severity="error", markup=False)
                return
        self.branches.opened.add(prefix)
        self.set_rows(self.branches.rows(self._top))

    async def _fetch(self, client: ApiClient, prefix: str) -> None:
        from ktui.client.ktui_api import KtuiApi  # start-up time

        page = await KtuiApi(client).prefixes(prefix)
        self.branches.children[prefix] = [
            Prefix(
                prefix=child.prefix,
                resource=child.resource,
                count=child.count,
                bytes=child.bytes,
                exact=child.exact,
                low=child.low,
                high=child.high,
            )
            for child in page.children
        ]
        self.branches.leaves |= {child.prefix for child in page.children if child.leaf}
