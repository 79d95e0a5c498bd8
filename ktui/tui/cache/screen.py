"""The Cache screen: all watch caches, and the objects and events of one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Literal

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical

from ktui.core.ranking.rank_lines import RankLines
from ktui.core.references import Crumb, Object, Place, Reference, ResourceRef
from ktui.core.state import State
from ktui.tui.cache.cache_columns import CACHES, CacheLine, cache_lines, is_loading
from ktui.tui.cache.cache_description import about, readers_content
from ktui.tui.cache.contents import InsideView
from ktui.tui.cache.rv_progress import RvProgressPanel
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.actions import headline
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.table.paged_table import PagedTable
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel

NONE_SELECTED = "select a watch cache to see what it holds and who reads it"


class CacheDetail(Horizontal):
    """What the selected cache does, who reads it, how far all are behind: as many panels as have room."""

    def __init__(self) -> None:
        self._about = Panel("what it does", id="about", classes="box")
        self._readers = Panel("who reads it", id="readers", classes="box")
        self._progress = RvProgressPanel()
        self._ranks = RankLines()
        super().__init__(self._about, self._readers, self._progress, id="below")

    def show(self, row: CacheLine | None, state: State) -> None:
        """Show the cache in `row`, its readers at most once a second; None without a selection."""
        if row is None:
            self._about.show(lambda width, _: line((NONE_SELECTED, "$ink-muted")), ())
        else:
            self._about.show(partial(about, row, state.revision), (id(row), state.revision))
        if row is not None and self._readers.display:
            resource = row.resource
            stamp = (id(state), resource, state.ranking.total.count, int(state.now))
            ranks = [line for line in self._ranks.of(state) if line.of(resource)]
            self._readers.show(partial(readers_content, ranks, state, resource), stamp)
        if self._progress.display:
            self._progress.paint(state)


def _of_the_row(
    work: Callable[[CacheScreen, CacheLine], Coroutine[Any, Any, None]],
) -> Callable[[CacheScreen], None]:
    """Return an action that does `work` for the cache under the cursor, and notifies of an error."""

    def action(screen: CacheScreen) -> None:
        row = screen.table.row
        if row is None or screen.inside:
            return

        async def run() -> None:
            with screen.ktui.notifying_errors():
                await work(screen, row)

        screen.in_background(run, "warm", exclusive=False)

    return action


class CacheScreen(ServerScreen, mode="cache"):
    """One row per resource; enter opens a cache, escape leaves it."""

    def __init__(self) -> None:
        super().__init__()
        empty = "no watch caches yet — each appears here when the server creates it"
        self.table = VTable(
            CACHES, key=lambda row: row.resource, share=True, reuse=True, name="caches", empty=empty
        )
        self.view = InsideView()
        self._detail = CacheDetail()
        self._cancellable = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="caches"):
            box = Container(id="caches-box", classes="box")
            box.border_title = "watch caches"
            with box:
                yield self.table
            yield self._detail
        yield self.view

    @property
    def inside(self) -> str:
        """The resource whose cache is open, "" for none."""
        return self.view.resource

    def active_table(self) -> VTable[Any] | None:
        return self.view.active_table if self.inside else self.table

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
        from ktui.tui.dialogs.jump import choose_read  # start-up time

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
        self.table.set_rows(cache_lines(self.ktui.state))
        if resource and not self.table.go_to(resource):
            self.notify(f"no cache of {resource} is known")

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
            self.table.set_rows(cache_lines(state))

    def paint_panels(self, state: State) -> None:
        if self.inside:
            self.view.refresh_if_moved(state)
        else:
            self._paint_detail()

    @on(VTable.Highlighted, "#caches-box VTable")
    def _paint_detail(self) -> None:
        row = self.table.row
        self._detail.show(row, self.ktui.state)
        cancellable = row is not None and is_loading(row.cache)
        if cancellable != self._cancellable:
            self._cancellable = cancellable
            self.refresh_bindings()

    # Opening and leaving a cache.

    @on(VTable.Selected, "#caches-box VTable")
    def _selected(self, event: VTable.Selected) -> None:
        row: CacheLine = event.row
        if row.row.live:
            self.open_cache(row.resource)
        else:
            self.notify(f"{row.resource} is not filled yet: {key_of('cache.warm')} warms it")

    def open_cache(self, resource: str, item: Object | None = None) -> None:
        """Show a cache's objects and events; with `item`, only objects with its name."""
        self.view.open(resource, item)
        self.add_class("-deep")
        self.refresh_bindings()
        self.moved()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("check", "lose") and self.inside:
            return False
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

    # Filling and checking a cache.

    @_of_the_row
    async def action_warm(self, row: CacheLine) -> None:
        if row.cache.state != "cold":
            self.notify(f"{row.resource} is {row.cache.state}: only a cold cache can be warmed")
            return
        await self.server.warm(row.resource)
        self.notify(f"warming {row.resource}")

    @_of_the_row
    async def action_cancel(self, row: CacheLine) -> None:
        await self.server.cancel_warming(row.resource)
        self.notify(f"cancelled the warming of {row.resource}")

    @_of_the_row
    async def action_check(self, row: CacheLine) -> None:
        found = await self.server.check(row.resource)
        bad = "" if found.consistent else f": {found.difference}"
        severity: Literal["information", "error"] = "information" if found.consistent else "error"
        self.notify(f"{headline(row.resource, found)}{bad}", severity=severity)

    @_of_the_row
    async def action_lose(self, row: CacheLine) -> None:
        lost = await self.server.lose(row.resource)
        text = f"the cache of {row.resource} has lost {lost}: {key_of('cache.check')} finds it"
        self.notify(text, severity="warning")
