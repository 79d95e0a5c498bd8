"""Cache: every watch cache, and the objects and events inside one."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import quote

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from ktui.client.connection import ClientError
from ktui.tui.model.cache_lines import CacheLine, CacheLines
from ktui.tui.model.cache_view import (
    CachedObject,
    ObjectPages,
    RingEvent,
    Unread,
    is_loading,
    read_events,
    read_objects,
)
from ktui.tui.model.format import integer, many
from ktui.tui.model.state import State
from ktui.tui.screens.asking import AskingScreen
from ktui.tui.screens.cache.about import about
from ktui.tui.screens.cache.columns import CACHES, OBJECTS, RING
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.paged_table import PagedTable
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.vtable import VTable

NOTHING_YET = "caches appear here as soon as the server tells of them"
RING_ROWS = 200
REREAD_EVERY = 4  # panel paints between two looks into an open cache that has moved


class CacheScreen(AskingScreen):
    """One row a resource; enter looks inside, escape comes back."""

    MODE = "cache"
    CSS_PATH = "cache.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "warm", "warm", id="cache.warm", tooltip="fill the cache under the cursor"),
        Binding(
            "x", "cancel", "cancel", id="cache.cancel", tooltip="stop filling the cache under the cursor"
        ),
        Binding("escape", "leave", "back", id="cache.leave", tooltip="back to all caches"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._lines = CacheLines()
        self.inside = ""  # the resource that is looked into
        self.pages = ObjectPages()
        self._filter = ""
        self._seen_rv = -1
        self._paints = 0
        self._cancellable = False

    def compose_body(self) -> ComposeResult:
        with Vertical(id="caches"):
            box = Container(id="caches-box", classes="box")
            box.border_title = "watch caches"
            with box:
                yield VTable[CacheLine](
                    CACHES, key=lambda row: row.resource, empty="no cache has been told of yet"
                )
            yield Panel("what it does", id="about", classes="box")
        with Container(id="inside"):
            with Container(id="objects-box", classes="box"):
                yield PagedTable[CachedObject](OBJECTS, key=_identity, id="objects")
            with Container(id="ring-box", classes="box"):
                yield VTable[RingEvent](RING, key=lambda row: (row.rv, row.name), id="ring")

    @property
    def table(self) -> VTable[CacheLine]:
        return self.query_one("#caches-box VTable", VTable)

    @property
    def objects(self) -> PagedTable[CachedObject]:
        return self.query_one("#objects", PagedTable)

    @property
    def ring(self) -> VTable[RingEvent]:
        return self.query_one("#ring", VTable)

    def active_table(self) -> VTable[Any] | None:
        if not self.inside:
            return self.table
        return self.ring if self.ring.has_focus else self.objects

    def object_in_hand(self) -> tuple[str, Any] | None:
        row = self.table.row
        if self.inside or row is None:
            return None
        return row.resource, row.cache

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.table.focus()

    def paint_tables(self, state: State) -> None:
        if not self.inside:
            self.table.set_rows(self._lines.of(state))

    def paint_panels(self, state: State) -> None:
        self._paints += 1
        if self.inside:
            self._look_again(state)
        else:
            self._paint_about(state)

    def _paint_about(self, state: State) -> None:
        row, head = self.table.row, state.head.revision
        panel = self.query_one("#about", Panel)
        if row is None:
            panel.show(
                lambda width, _: line(("caches appear here once the server tells of them", "$ink-muted")), ()
            )
        else:
            panel.show(lambda width, _: about(row, width, head), (id(row), head))
        cancellable = row is not None and is_loading(row.cache)
        if cancellable != self._cancellable:
            self._cancellable = cancellable
            self.refresh_bindings()

    def _look_again(self, state: State) -> None:
        """Read the visible rows again when the cache has moved since they were read."""
        row = state.caches.get(self.inside)
        if row is None or row.cache.rv == self._seen_rv or self._paints % REREAD_EVERY:
            return
        self._seen_rv = row.cache.rv
        self.pages.outdate()
        self.objects.want()
        self._read_ring(self.inside)

    @on(VTable.Highlighted, "#caches-box VTable")
    def _highlighted(self) -> None:
        self._paint_about(self.ktui.state)

    # Going in and out.

    @on(VTable.Selected, "#caches-box VTable")
    def _selected(self, event: VTable.Selected) -> None:
        row: CacheLine = event.row
        if row.row.live:
            self.look_into(row.resource)
        else:
            self.notify(f"{row.resource} holds nothing yet: w warms it", markup=False)

    def look_into(self, resource: str) -> None:
        """Show the objects and the ring of one cache."""
        self.inside, self._filter, self._seen_rv = resource, "", -1
        self.pages = ObjectPages()
        self.add_class("-deep")
        self.refresh_bindings()
        for table in (self.objects, self.ring):
            table.empty = "reading …"
            table.set_rows(())
        self._title(resource)
        self.objects.focus()
        self._read_objects(resource, 0)
        self._read_ring(resource)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("warm", "leave"):
            return (action == "leave") is bool(self.inside)
        if action == "cancel":
            row = self.table.row
            return not self.inside and row is not None and is_loading(row.cache)
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        if self.inside:
            self.inside = ""
            self.remove_class("-deep")
            self.refresh_bindings()
            self.paint()
            self.table.focus()

    def _title(self, resource: str) -> None:
        box = self.query_one("#objects-box", Container)
        total, rv = many(self.pages.total, "object"), integer(self.pages.rv)
        box.border_title = line(f"{resource} · {total} at rv {rv}" if self.pages.rv else resource)
        self.query_one("#ring-box", Container).border_title = line("ring · newest first")
        box.border_subtitle = line(f"/{self._filter}" if self._filter else "")

    # Asking.

    @on(PagedTable.Wanted)
    def _wanted(self, event: PagedTable.Wanted) -> None:
        if self.inside:
            for offset in self.pages.missing(event.first, event.last):
                self._read_objects(self.inside, offset)

    @on(PagedTable.Filtered)
    def _filtered(self, event: PagedTable.Filtered) -> None:
        self._filter = event.text
        self.pages = ObjectPages()
        self._read_objects(self.inside, 0)

    @work(group="objects")
    async def _read_objects(self, resource: str, offset: int) -> None:
        pages, size = self.pages, self.pages.page_size
        path = f"/ktui/v1/caches/{quote(resource, safe='')}/objects?offset={offset}&limit={size}"
        if not pages.begin(offset):
            return
        try:
            page = read_objects(await self.ask(f"{path}&filter={quote(self._filter, safe='')}"))
        except ClientError as error:
            pages.fail(offset)
            self._say(self.objects, resource, str(error))
            return
        pages.put(offset, page)
        if self.inside == resource and pages is self.pages:
            self.objects.empty = "no object matches" if self._filter else "this cache is empty"
            self.objects.set_rows(pages)
            self.objects.refresh_lines_shown()
            self._title(resource)

    @work(group="ring", exclusive=True)
    async def _read_ring(self, resource: str) -> None:
        try:
            answer = await self.ask(f"/ktui/v1/caches/{quote(resource, safe='')}/events?limit={RING_ROWS}")
        except ClientError as error:
            self._say(self.ring, resource, str(error))
            return
        if self.inside == resource:
            self.ring.empty = "no event since this cache was filled"
            self.ring.set_rows(read_events(answer))

    def _say(self, table: VTable[Any], resource: str, problem: str) -> None:
        if self.inside == resource:
            table.empty = problem
            table.set_rows(table.rows)

    def action_warm(self) -> None:
        row = self.table.row
        if row is None or self.inside:
            return
        if row.cache.state != "cold":
            self.notify(f"{row.resource} is {row.cache.state}: only a cold cache can be warmed", markup=False)
        else:
            self._warm(row.resource)

    def action_cancel(self) -> None:
        if self.table.row is not None:
            self._fire_warm("DELETE", self.table.row.resource, "cancelled the filling of")

    def _warm(self, resource: str) -> None:
        self._fire_warm("POST", resource, "warming")

    @work(group="warm")
    async def _fire_warm(self, method: str, resource: str, done: str) -> None:
        try:
            answer = await self.client.request(method, f"/ktui/v1/caches/{quote(resource, safe='')}/warm")
        except ClientError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if answer.is_success:
            self.notify(f"{done} {resource}", markup=False)
        else:
            self.notify(
                f"{resource}: {answer.status_code} {answer.text[:200]}", severity="error", markup=False
            )


def _identity(row: CachedObject) -> object:
    return row.index if isinstance(row, Unread) else (row.namespace, row.name)
