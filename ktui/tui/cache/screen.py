"""The Cache screen: all watch caches, and the objects and events of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical

from ktui.core.references import Crumb, Object, Place, Reference, ResourceRef
from ktui.core.state import State
from ktui.tui.cache.columns import CACHES
from ktui.tui.cache.contents import InsideView
from ktui.tui.cache.detail import CacheDetail
from ktui.tui.cache.objects import is_loading
from ktui.tui.cache.rows import CacheLine, CacheLines
from ktui.tui.cache.warming import Warming
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_of
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.table.paged_table import PagedTable
from ktui.tui.table.vtable import VTable


class CacheScreen(ServerScreen):
    """One row per resource; enter opens a cache, escape leaves it."""

    MODE = "cache"
    CSS_PATH = "cache.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.CACHE

    def __init__(self) -> None:
        super().__init__()
        self._lines = CacheLines()
        self._warming = Warming(self)
        self._cancellable = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="caches"):
            box = Container(id="caches-box", classes="box")
            box.border_title = "watch caches"
            with box:
                yield VTable[CacheLine](
                    CACHES,
                    key=lambda row: row.resource,
                    share=True,
                    name="caches",
                    empty="no watch caches yet — each appears here when the server creates it",
                )
            yield CacheDetail()
        yield InsideView()

    @property
    def table(self) -> VTable[CacheLine]:
        return self.query_one("#caches-box VTable", VTable)

    @property
    def view(self) -> InsideView:
        return self.query_one(InsideView)

    @property
    def inside(self) -> str:
        """The resource whose cache is open, "" for none."""
        return self.view.resource

    def active_table(self) -> VTable[Any] | None:
        return self.view.table if self.inside else self.table

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.table.row
        return None if row is None else (row.resource, msgspec.to_builtins(row.cache))

    def action_show_object(self) -> None:
        if self.inside:
            self.view.show_object()
        else:
            super().action_show_object()

    def action_try_cheaper(self) -> None:
        """Compare a read of the selected resource with a cheaper variant."""
        from ktui.tui.dialogs.compare import choose_read  # start-up time

        resource = self.inside or (self.table.row.resource if self.table.row is not None else "")
        choose_read(self.ktui, resource)

    # Places and selection.

    def crumbs(self) -> Sequence[Crumb]:
        if not self.inside:
            return ()
        first = Crumb(self.inside, Place(self.MODE, ResourceRef(self.inside)))
        item = self.view.target
        return (first,) if item is None else (first, Crumb(item.text, Place(self.MODE, item)))

    def visit(self, reference: Reference | None) -> None:
        """Open a cache, or an object in it; of a cache that is not ready only move the cursor there."""
        item = reference if isinstance(reference, Object) else None
        resource = reference.id if isinstance(reference, ResourceRef) else item.resource if item else ""
        row = self.ktui.state.caches.get(resource)
        if row is None or not row.live:
            self.action_leave()
            self._put_cursor(resource)
        elif resource != self.inside or item != self.view.target:
            self.open_cache(resource, item)

    def _put_cursor(self, resource: str) -> None:
        self.table.set_rows(self._lines.of(self.ktui.state))
        shown = [row.resource for row in self.table.rows]
        if resource in shown:
            self.table.move_to(shown.index(resource))
        elif resource:
            self.notify(f"no cache of {resource} is known", markup=False)

    def references(self) -> Sequence[Reference]:
        if self.inside:
            return self.view.references()
        return () if self.table.row is None else (ResourceRef(self.table.row.resource),)

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.table.focus()

    def paint_tables(self, state: State) -> None:
        if not self.inside:
            self.table.set_rows(self._lines.of(state))

    def paint_panels(self, state: State) -> None:
        if self.inside:
            self.view.refresh_if_moved(state)
        else:
            self._paint_detail(state)

    def _paint_detail(self, state: State) -> None:
        row = self.table.row
        self.query_one(CacheDetail).show(row, state)
        cancellable = row is not None and is_loading(row.cache)
        if cancellable != self._cancellable:
            self._cancellable = cancellable
            self.refresh_bindings()

    @on(VTable.Highlighted, "#caches-box VTable")
    def _highlighted(self) -> None:
        self._paint_detail(self.ktui.state)

    # Opening and leaving a cache.

    @on(VTable.Selected, "#caches-box VTable")
    def _selected(self, event: VTable.Selected) -> None:
        row: CacheLine = event.row
        if row.row.live:
            self.open_cache(row.resource)
        else:
            self.notify(f"{row.resource} is not filled yet: {key_of('cache.warm')} warms it", markup=False)

    def open_cache(self, resource: str, item: Object | None = None) -> None:
        """Show a cache's objects and events; with `item`, only objects with its name."""
        self.view.open(resource, item)
        self.add_class("-deep")
        self.refresh_bindings()
        self.moved()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("warm", "leave"):
            return (action == "leave") is bool(self.inside)
        if action == "cancel":
            row = self.table.row
            return not self.inside and row is not None and is_loading(row.cache)
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        if self.inside:
            self.view.close()
            self.remove_class("-deep")
            self.refresh_bindings()
            self.paint()
            self.table.focus()
            self.moved()

    @on(PagedTable.Filtered)
    def _filtered(self) -> None:
        """Report the move from one object to all that match another filter."""
        self.moved()

    # Filling a cache.

    def action_warm(self) -> None:
        if self.table.row is not None and not self.inside:
            self._warming.warm(self.table.row)

    def action_cancel(self) -> None:
        if self.table.row is not None:
            self._warming.cancel(self.table.row)
