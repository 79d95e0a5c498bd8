"""The contents of one watch cache: its objects, page by page, and the newest events of its event buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container

from ktui.client.connection import ClientError
from ktui.contract.cache_documents import CachedObject, ObjectPage
from ktui.core.format import integer, many
from ktui.core.references import KeyRef, Object, Place, Reference, ResourceRef
from ktui.core.state import State
from ktui.tui.cache.cache_columns import EVENTS, OBJECTS
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.navigation.related import implied
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.paged_table import PagedTable
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line


class Unread(CachedObject, frozen=True):
    """Stands for the object in row `index` until its page has been read."""

    index: int = 0


class ObjectPages(Sequence[CachedObject]):
    """A long list of objects of which only the visited pages are held."""

    def __init__(self, page_size: int = 200, keep: int = 64) -> None:
        self.page_size = page_size
        self.total = 0
        self.rv = 0
        self._keep = keep
        self._pages: dict[int, list[CachedObject]] = {}
        self._stale: set[int] = set()
        self._requested: set[int] = set()

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, index: int) -> CachedObject: ...
    @overload
    def __getitem__(self, index: slice) -> list[CachedObject]: ...
    def __getitem__(self, index: int | slice) -> CachedObject | list[CachedObject]:
        """Return the object in row `index`, or an Unread if its page is not held."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self.total))]
        if not 0 <= index < self.total:
            raise IndexError(index)
        page = self._pages.get(index // self.page_size, [])
        at = index % self.page_size
        return page[at] if at < len(page) else Unread(index=index)

    def missing(self, first: int, last: int) -> list[int]:
        """Return the offsets of the pages for rows `first` to `last` that are neither held nor being read."""
        if self.total == 0:
            return []
        pages = range(max(0, first) // self.page_size, min(last, self.total - 1) // self.page_size + 1)
        here = self._pages.keys() - self._stale
        return [page * self.page_size for page in pages if page not in here and page not in self._requested]

    def begin(self, offset: int) -> bool:
        """Record that a page is being read. Return False if it already was."""
        number = offset // self.page_size
        if number in self._requested:
            return False
        self._requested.add(number)
        return True

    def fail(self, offset: int) -> None:
        self._requested.discard(offset // self.page_size)

    def put(self, offset: int, page: ObjectPage) -> None:
        """Hold a page, and drop the one read longest ago if there are more than `keep`."""
        number = offset // self.page_size
        self._pages.pop(number, None)
        self._pages[number] = page.objects
        self._stale.discard(number)
        self._requested.discard(number)
        self.total, self.rv = page.total, page.revision
        while len(self._pages) > self._keep:
            del self._pages[next(iter(self._pages))]

    def mark_stale(self) -> None:
        """Have all pages read again when they are next visible; until then they are shown as they are."""
        self._stale.update(self._pages)


EVENTS_ROWS = 200
ALL_AT_ONCE = 5_000  # objects per response when all are read for an export
REREAD_EVERY = 4  # panel paints between two checks whether the cache has moved on


class InsideView(ServerPane):
    """Shows the cache of `resource` ("" for none), limited to the object `target` if that is not None."""

    def __init__(self) -> None:
        super().__init__(id="inside")
        self.objects: PagedTable[CachedObject] = PagedTable(
            OBJECTS, id="objects",
            key=lambda row: row.index if isinstance(row, Unread) else (row.namespace, row.name),
        )  # fmt: skip
        self.objects.read_all = self._read_all
        self.events = VTable(EVENTS, key=lambda row: (row.revision, row.name), id="events")
        self.resource = ""
        self.target: Object | None = None
        self.pages = ObjectPages()
        self._filter = ""
        self._sort = ""  # a column, with a leading - for descending order; "": by key
        self._seen_rv = -1
        self._paints = 0

    def compose(self) -> ComposeResult:
        with Container(id="objects-box", classes="box"):
            yield self.objects
        with Container(id="events-box", classes="box"):
            yield self.events

    @property
    def active_table(self) -> VTable[Any]:
        """The table that keys act on."""
        return self.events if self.events.has_focus else self.objects

    def references(self) -> Sequence[Reference]:
        if self.events.has_focus:
            event = self.events.row
            return (
                () if event is None else (Object(self.resource, event.namespace, event.name, event.revision),)
            )
        row = self.objects.row
        if row is None or isinstance(row, Unread):
            return (ResourceRef(self.resource),)
        return (Object(self.resource, row.namespace, row.name),)

    def key(self) -> KeyRef | None:
        """Return the key in etcd of the row under the cursor; None if unknown."""
        state = self.ktui.state
        return next((each for each in implied(self.references(), state) if isinstance(each, KeyRef)), None)

    @on(VTable.Selected)
    def _selected(self, event: VTable.Selected) -> None:
        event.stop()
        if (key := self.key()) is not None:
            self.ktui.go_to(Place("etcd", key))
        else:
            self.notify(f"the keys of {self.resource} in etcd are not known")

    @work(group="object", exclusive=True)
    async def show_object(self) -> None:
        """Show the object under the cursor as etcd stores it; a deleted object as it was last."""
        key = self.key()
        if key is None:
            self.notify("nothing selected")
            return
        event = self.events.row if self.events.has_focus else None
        at = key.revision - (event is not None and event.type == "DELETED")
        with self.ktui.notifying_errors():
            stored = await self.server.key(key.key, revision=at)
            shown = stored.json if stored.json is not None else stored.text or stored.hex
            self.app.push_screen(TextScreen(key.key, shown))

    async def _read_all(self) -> Sequence[CachedObject]:
        """Read all matching objects, for an export. Raises ClientError."""
        rows: list[CachedObject] = []
        while True:
            page = await self.server.cached_objects(
                self.resource, offset=len(rows), limit=ALL_AT_ONCE, containing=self._filter, sort=self._sort
            )
            rows += page.objects
            if not page.objects or len(rows) >= page.total:
                return rows

    # What is shown.

    def open(self, resource: str, item: Object | None = None) -> None:
        """Show a cache's objects and events; with `item`, only objects with its name."""
        self.resource, self.target, self._seen_rv = resource, item, -1
        self._filter = item.text if item is not None else ""
        self.objects.set_filter(self._filter)
        self.pages = ObjectPages()
        for table in (self.objects, self.events):
            self.say(table, "reading …")
        self._title()
        self._title_events()
        self.objects.focus()
        self._read_objects(resource, 0)
        self._read_events(resource)

    def close(self) -> None:
        self.resource, self.target = "", None

    def refresh_if_moved(self, state: State) -> None:
        """Read the visible rows again if the cache has moved on since they were read."""
        self._paints += 1
        row = state.caches.get(self.resource)
        if row is None or row.cache.rv == self._seen_rv or self._paints % REREAD_EVERY:
            return
        self._seen_rv = row.cache.rv
        self.pages.mark_stale()
        self.objects.want()
        self._read_events(self.resource)

    def _title(self) -> None:
        box = self.query_one("#objects-box", Container)
        total, rv = many(self.pages.total, "object"), integer(self.pages.rv)
        box.border_title = line(f"{self.resource} · {total} at RV {rv}" if self.pages.rv else self.resource)
        box.border_subtitle = line(f"/{self._filter}" if self._filter else "")

    def _title_events(self, read: int = 0) -> None:
        """Set the events' title: `read` is how many of the buffer's events were read."""
        row = self.ktui.state.caches.get(self.resource)
        held = max(read, row.cache.buffered if row is not None else 0)
        of = f" · {integer(read)} newest of {integer(held)}" if read else " · newest first"
        self.query_one("#events-box", Container).border_title = line(f"event buffer{of}")

    # Reading.

    @on(PagedTable.Wanted)
    def _wanted(self, event: PagedTable.Wanted) -> None:
        if self.resource:
            for offset in self.pages.missing(event.first, event.last):
                self._read_objects(self.resource, offset)

    @on(PagedTable.Filtered)
    def _filtered(self, event: PagedTable.Filtered) -> None:
        if event.text == self._filter:
            return  # set by `open`, which reads the objects itself
        self._filter, self.target = event.text, None
        self.pages = ObjectPages()
        self._read_objects(self.resource, 0)

    @on(PagedTable.Sorted)
    def _sorted(self, event: PagedTable.Sorted) -> None:
        self._sort = f"{'-' if event.descending else ''}{event.column}"
        self.pages = ObjectPages()
        self.objects.move_to(0)
        self._read_objects(self.resource, 0)

    @work(group="objects")
    async def _read_objects(self, resource: str, offset: int) -> None:
        pages, size = self.pages, self.pages.page_size
        if not pages.begin(offset):
            return
        try:
            page = await self.server.cached_objects(
                resource, offset=offset, limit=size, containing=self._filter, sort=self._sort
            )
        except ClientError as error:
            pages.fail(offset)
            self._show_problem(self.objects, resource, str(error))
            return
        pages.put(offset, page)
        if self.resource == resource and pages is self.pages:
            self.objects.empty = "no object matches" if self._filter else "this cache is empty"
            self.objects.set_rows(pages)
            self.objects.refresh_lines_shown()
            self._title()

    @work(group="events", exclusive=True)
    async def _read_events(self, resource: str) -> None:
        try:
            page = await self.server.cached_events(resource, limit=EVENTS_ROWS)
        except ClientError as error:
            self._show_problem(self.events, resource, str(error))
            return
        if self.resource == resource:
            self.events.empty = "no events since this cache was filled"
            self.events.set_rows(page.events)
            self._title_events(len(page.events))

    def _show_problem(self, table: VTable[Any], resource: str, problem: str) -> None:
        if self.resource == resource:
            table.empty = problem
            table.set_rows(table.rows)
