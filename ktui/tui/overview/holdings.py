"""Columns of the Overview's caches, the tree of prefixes, and the panel of what the caches hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, convert
from textual import on
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content

from ktui.client.connection import ClientError
from ktui.contract.events import Prefix
from ktui.core.format import integer, interval, short_bytes, short_count, within
from ktui.core.references import Place, PrefixRef, ResourceRef
from ktui.core.request_view import short_resource
from ktui.core.state import CacheRow, State
from ktui.core.table.columns import Cell, Column
from ktui.tui.cache.rv_progress import RvProgressPanel, by_size, lag_style
from ktui.tui.charts.bars import bar
from ktui.tui.dashboard import OnDashboard
from ktui.tui.keys import bindings as keys
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, figure
from ktui.tui.widgets.panel import Panel

if TYPE_CHECKING:
    from ktui.client.api import ApiClient
    from ktui.contract.etcd_documents import PrefixChild


class PrefixRow(Struct, frozen=True):
    """One line of the tree. `share`: its bytes divided by those of its largest sibling (0–1)."""

    node: Prefix
    label: str
    depth: int
    open: bool
    leaf: bool
    share: float

    @property
    def prefix(self) -> str:
        return self.node.prefix


class PrefixOutline(Struct):
    """The open branches and their children; the top level comes from telemetry."""

    root: str = "/registry/"
    opened: set[str] = set()
    children: dict[str, list[Prefix]] = {}
    leaves: set[str] = set()

    def rows(self, top: Mapping[str, Prefix]) -> list[PrefixRow]:
        """Return the lines to show; siblings are sorted by bytes, the largest first."""
        return list(self._level(list(top.values()), self.root, 0))

    def _level(self, nodes: Sequence[Prefix], above: str, depth: int) -> Iterator[PrefixRow]:
        greatest = max((node.bytes for node in nodes), default=0) or 1
        for node in sorted(nodes, key=lambda node: (-node.bytes, node.prefix)):
            is_open = node.prefix in self.opened
            label = _label(node.prefix.removeprefix(above).rstrip("/")) or node.prefix
            leaf, share = node.prefix in self.leaves, node.bytes / greatest
            yield PrefixRow(node, label, depth, is_open, leaf, share)
            if is_open:
                yield from self._level(self.children.get(node.prefix, []), node.prefix, depth + 1)


def _label(path: str) -> str:
    """Return the prefix without a custom resource's group: `cilium.io/ciliumnodes` → `ciliumnodes`."""
    group, _, rest = path.partition("/")
    return rest if rest and "." in group else path


_BAR = 8  # cells of a bar for 100%


def _prefix(row: PrefixRow) -> Cell:
    sign = "  " if row.leaf else "▾ " if row.open else "▸ "
    runs = [("  " * row.depth + sign, "$ink-faint"), (row.label, "$foreground")]
    if row.node.leased:
        runs.append((" ttl", "$route-wait"))
    return runs


def prefix_bytes(node: Prefix | PrefixChild) -> Cell:
    if not node.exact and not node.bytes:  # values of Secrets: only ktui's own etcd is sampled
        return ("?", "$ink-muted")
    if node.exact:
        return (short_bytes(node.bytes), "$ink-muted")
    return (interval(node.low, node.high) or f"~{short_bytes(node.bytes)}", "$ink-muted")


PREFIXES: tuple[Column[PrefixRow], ...] = (
    Column("prefix", "prefix", _prefix, lambda row: row.prefix, width=16, flex=1, priority=0,
           about="the next part of the keys under the prefix"),
    figure("keys", "keys", lambda row: row.node.count, "keys under it, counted by count_only reads",
           cell=lambda row: short_count(row.node.count)),
    figure("bytes", "bytes", lambda row: row.node.bytes, "keys and values; a range if sampled, ? not read",
           width=6, priority=2, unit="B", cell=lambda row: prefix_bytes(row.node)),
    Column("share", "", lambda row: (bar(row.share, _BAR), "$chart-share"), lambda row: row.share,
           width=_BAR, priority=4, about="share of all bytes"),
    Column("resource", "resource", lambda row: row.node.resource, width=24, priority=9, hidden=True,
           about="the Kubernetes resource stored there"),
)  # fmt: skip


class PrefixTable(VTable[PrefixRow]):
    """The top level comes with telemetry; deeper levels are requested when they are opened."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["prefix tree"]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(PREFIXES, key=lambda row: row.prefix, empty="no keys counted yet", **kwargs)
        self.branches = PrefixOutline()
        self._top: Mapping[str, Prefix] = {}

    def show_prefixes(self, top: Mapping[str, Prefix], root: str) -> None:
        """Show the prefixes of the top level, below `root`."""
        self._top = top
        self.branches.root = root
        self.set_rows(self.branches.rows(top))

    def action_fold(self) -> None:
        if self.row is not None and self.row.open:
            self.branches.opened.discard(self.row.prefix)
            self.set_rows(self.branches.rows(self._top))

    def action_unfold(self) -> None:
        row = self.row
        if row is not None and not row.leaf and not row.open:
            self.run_worker(self._open(row.prefix), group="prefixes", exclusive=True)

    async def _open(self, prefix: str) -> None:
        client: ApiClient | None = getattr(self.app, "client", None)
        if prefix not in self.branches.children:
            if client is None:
                self.app.notify("a recording has no deeper prefixes")
                return
            from ktui.client.ktui_api import KtuiApi  # start-up time

            try:
                page = await KtuiApi(client).prefixes(prefix)
            except ClientError as error:
                self.app.notify(str(error), title=prefix, severity="error")
                return
            children = [convert(child, Prefix, from_attributes=True) for child in page.children]
            self.branches.children[prefix] = children
            self.branches.leaves |= {child.prefix for child in page.children if child.leaf}
        self.branches.opened.add(prefix)
        self.set_rows(self.branches.rows(self._top))


STATES = {
    "ready": ("●", "$route-cache"),
    "initializing": ("◐", "$route-wait"),
    "reinitializing": ("◐", "$route-wait"),
    "cold": ("○", "$ink-muted"),
    "disabled": ("–", "$ink-muted"),
    "stale": ("◌", "$warning"),
}
_LAG = 6  # cells


class CacheSummary(Struct, frozen=True):
    """A line of the table: the cache's row, its revisions behind etcd, and its events per second."""

    row: CacheRow
    lag: int
    per_second: float = 0.0


def cache_summaries(state: State) -> list[CacheSummary]:
    """Return all caches, largest first."""
    head, rows = state.revision, sorted(state.caches.values(), key=by_size)
    return [CacheSummary(row, row.lag(head), state.events_per_second(row.resource)) for row in rows]


def _lag(line: CacheSummary) -> Cell:
    """Return the lag; until the cache serves reads, a percentage while it fills, else its state."""
    cache = line.row.cache
    if line.row.live:
        return (within(line.lag, _LAG), lag_style(line.lag, cache.waiting))
    if cache.state in ("initializing", "reinitializing"):
        share = f"{100 * cache.loaded // cache.expected}%" if cache.expected else "…"
        return (share, "$ink-muted")
    return ("cold" if cache.state == "cold" else "off", "$ink-muted")


CACHES: tuple[Column[CacheSummary], ...] = (
    Column("state", "", lambda line: STATES.get(line.row.shown_state, ("?", "$warning")),
           lambda line: line.row.shown_state, width=1, priority=0, known=tuple(STATES),
           about="● ready, ◌ stale, ◐ filling, ○ cold, – without a watch cache"),
    Column("resource", "resource",
           lambda line: (short_resource(line.row.resource), "$foreground" if line.row.live else "$ink-muted"),
           lambda line: line.row.resource, width=16, flex=1, priority=0,
           about="the resource that it caches; filters take it with its group"),
    figure("rv", "RV", lambda line: line.row.rv, "revision of its last event or progress notification",
           width=9, priority=3, unit="rv",
           cell=lambda line: (integer(line.row.rv) if line.row.live else "", "$ink-muted")),
    figure("lag", "behind", lambda line: line.lag, "revisions that the cache is behind etcd", width=_LAG,
           priority=0, cell=_lag),
    figure("objects", "objects", lambda line: line.row.cache.objects, "objects in the cache", width=7),
    figure("bytes", "bytes", lambda line: line.row.cache.bytes, "size of its objects in etcd", width=6,
           priority=5, unit="B", style="$ink-muted"),
    figure("watchers", "watch", lambda line: line.row.cache.watchers, "WATCHes that it serves", priority=6),
    figure("waiting", "wait", lambda line: line.row.cache.waiting, "reads waiting until it is fresh enough",
           width=4, priority=4, style="bold $route-wait"),
    figure("events", "ev/s", lambda line: line.per_second, "events a second from etcd now",
           priority=7, cell=lambda line: (f"{line.per_second:.1f}", "$ink-muted")),
)  # fmt: skip


class Holdings(Vertical, OnDashboard):
    """Three tables and panels: etcd's prefixes, the watch caches, the progress of their resourceVersions."""

    def __init__(self) -> None:
        self.prefixes = PrefixTable(id="prefixes", classes="box")
        self.prefixes.border_title = Content("/registry")
        empty = "no watch caches yet"
        self.caches = VTable(
            CACHES, key=lambda line: line.row.resource, reuse=True, id="caches", classes="box", empty=empty
        )
        self.caches.border_title = Content("watch caches")
        self._progress = RvProgressPanel()
        self._etcd = Panel("etcd", id="state", classes="box")
        super().__init__(self.prefixes, self.caches, self._progress, self._etcd, id="left")

    def paint(self, state: State) -> None:
        if self.caches.outdated(id(state), state.touched.caches, state.revision, int(state.now)):
            self.caches.set_rows(cache_summaries(state))
        if self.prefixes.outdated(id(state), state.touched.prefixes):
            root = f"{state.server.etcd_prefix}/" if state.server is not None else "/registry/"
            entitle(self.prefixes, Content(root.rstrip("/")))
            self.prefixes.show_prefixes(state.prefixes, root)
        self._progress.paint(state)
        self._etcd.show(
            partial(_etcd_state, state), (id(state), state.touched.head, state.health, int(state.now))
        )

    @on(VTable.Selected, "#caches")
    def _cache_selected(self, event: VTable.Selected) -> None:
        self.ktui.go_to(Place("cache", ResourceRef(event.row.row.resource)))

    @on(VTable.Selected, "#prefixes")
    def _prefix_selected(self, event: VTable.Selected) -> None:
        self.ktui.go_to(Place("etcd", PrefixRef(event.row.prefix)))


def _etcd_state(state: State, width: int, height: int) -> Content:
    from ktui.tui.overview.stored_panels import etcd_state_content  # start-up time

    return etcd_state_content(state, width, height)
