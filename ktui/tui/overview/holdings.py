"""What etcd and the watch caches hold, and how far each cache is behind etcd."""

from __future__ import annotations

from typing import Any, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from ktui.core.references import Place, PrefixRef, ResourceRef
from ktui.core.state import State
from ktui.tui.cache.rv_progress import RvProgressPanel
from ktui.tui.dashboard import Dashboard
from ktui.tui.overview.columns import COLUMNS, CacheSummary, cache_lines
from ktui.tui.overview.prefix_table import PrefixTable
from ktui.tui.overview.stored_panels import etcd_state_content
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle
from ktui.tui.widgets.panel import Panel


class Holdings(Vertical):
    """Three tables and panels: etcd's prefixes, the watch caches, the progress of their resourceVersions."""

    def __init__(self) -> None:
        super().__init__(id="left")
        self._caches_stamp: tuple[Any, ...] = ()
        self._prefixes_stamp: tuple[Any, ...] = ()

    def compose(self) -> ComposeResult:
        yield PrefixTable(id="prefixes", classes="box")
        yield VTable[CacheSummary](
            COLUMNS,
            key=lambda line: line.row.resource,
            id="caches",
            classes="box",
            empty="no watch caches yet",
        )
        yield RvProgressPanel()
        yield Panel("etcd", id="state", classes="box")

    def on_mount(self) -> None:
        self.prefixes.border_title = Content("/registry")
        self.caches.border_title = Content("watch caches")

    @property
    def prefixes(self) -> PrefixTable:
        return self.query_one(PrefixTable)

    @property
    def caches(self) -> VTable[CacheSummary]:
        return self.query_one("#caches", VTable)

    def paint(self, state: State) -> None:
        self._paint_caches(state)
        self._paint_prefixes(state)
        self.query_one(RvProgressPanel).paint(state)
        self.query_one("#state", Panel).show(
            lambda width, height: etcd_state_content(state, width, height),
            (id(state), state.touched.head, state.health, int(state.now)),
        )

    def _paint_caches(self, state: State) -> None:
        stamp = (id(state), state.touched.caches, state.head.revision, int(state.now))
        if stamp != self._caches_stamp:
            self._caches_stamp = stamp
            self.caches.set_rows(cache_lines(state, self.caches.rows))

    def _paint_prefixes(self, state: State) -> None:
        stamp = (id(state), state.touched.prefixes)
        if stamp != self._prefixes_stamp:
            self._prefixes_stamp = stamp
            root = f"{state.server.etcd_prefix}/" if state.server is not None else "/registry/"
            entitle(self.prefixes, Content(root.rstrip("/")))
            self.prefixes.show_prefixes(state.prefixes, root)

    @on(VTable.Selected, "#caches")
    def _cache_selected(self, event: VTable.Selected) -> None:
        self._go_to(Place("cache", ResourceRef(event.row.row.resource)))

    @on(VTable.Selected, "#prefixes")
    def _prefix_selected(self, event: VTable.Selected) -> None:
        self._go_to(Place("etcd", PrefixRef(event.row.prefix)))

    def _go_to(self, place: Place) -> None:
        cast(Dashboard, self.app).go_to(place)
