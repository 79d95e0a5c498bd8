"""What is stored in an etcd that gets no requests through ktui, and what LISTs of it would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import ComposeResult

from ktui.client.connection import ClientError
from ktui.core.references import CompareRef, Place, Read, Reference, ResourceRef
from ktui.core.rows import Head
from ktui.core.selection import Selection
from ktui.core.state import State
from ktui.tui.dashboard import Dashboard
from ktui.tui.overview import stored_panels as panels
from ktui.tui.overview.stored_columns import list_columns
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.areas import Below
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel

if TYPE_CHECKING:
    from ktui.core.stored.possible_lists import PossibleList


def _old_revision(head: Head) -> int:
    """One that is not compacted, and older than the snapshots that caches keep."""
    return head.revision - (head.revision - head.compact) // 2 if head.compact else head.revision


VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")


class StoredPane(Below):
    """Tables over what etcd holds, and the row under the cursor in full."""

    def __init__(self) -> None:
        super().__init__(id="stored")
        self._stamp: tuple[Any, ...] = ()
        self._lists: list[PossibleList] = []
        self._group_versions: dict[str, str] | None = None

    def compose(self) -> ComposeResult:
        yield VTable(
            list_columns(VERSIONS),
            key=lambda row: (row.resource, row.target.partition("?")[2].partition("=")[0]),
            id="possible",
            classes="box",
            empty="etcd's keys are being counted",
        )
        yield Panel("predicted", id="stored-detail", classes="box")

    def on_mount(self) -> None:
        title = line("LISTs that anyone could send", (" · predicted, most expensive first", "$ink-muted"))
        entitle(self.lists, title)

    @property
    def lists(self) -> VTable[PossibleList]:
        return self.query_one("#possible", VTable)

    def paint(self, state: State) -> None:
        server = state.server
        stamp = (id(state), state.touched.prefixes, server, self._group_versions)
        if server is not None and stamp != self._stamp:
            self._stamp = stamp
            self.run_worker(self._predict(state), group="predicted", exclusive=True)
        self.paint_row()

    def paint_row(self) -> None:
        row = self.lists.row
        self.query_one("#stored-detail", Panel).show(
            lambda width, height: panels.list_content(row, width, height), (row,)
        )

    async def _predict(self, state: State) -> None:
        """In steps of a millisecond: the rules of five versions for some hundred LISTs."""
        from ktui.core.prediction.assumptions import server_behaviour  # start-up time
        from ktui.core.stored.possible_lists import most_expensive, possible_lists

        if self._group_versions is None:
            self._group_versions = await self._ask_groups()
        found = []
        for item in possible_lists(
            list(state.prefixes.values()),
            server_behaviour(state),
            _old_revision(state.head),
            progress=state.progress,
            group_versions=self._group_versions,
        ):
            found.append(item)
            await asyncio.sleep(0)
        self._lists = most_expensive(found)
        self.lists.set_rows(self._lists)
        self.paint_row()

    async def _ask_groups(self) -> dict[str, str]:
        """The version of each API group, for the paths of custom resources; none in a recording."""
        client = self._dashboard.client
        if client is None:
            return {}
        try:
            document = await client.get_json("/apis")
        except ClientError:
            return {}
        groups = document.get("groups", []) if isinstance(document, Mapping) else []
        return {group["name"]: group["preferredVersion"]["version"] for group in groups}

    @property
    def _dashboard(self) -> Dashboard:
        return cast(Dashboard, self.app)

    @on(VTable.Highlighted, "#possible")
    def _highlighted(self) -> None:
        self.paint_row()

    @on(VTable.Selected, "#possible")
    def _selected(self, event: VTable.Selected) -> None:
        self._dashboard.go_to(Place("lab", Read(event.row.selection)))

    @property
    def selection(self) -> Selection | None:
        """The LIST under the cursor."""
        row = self.lists.row
        return row.selection if row is not None else None

    def references(self) -> Sequence[Reference]:
        row = self.lists.row
        return (Read(row.selection), ResourceRef(row.resource)) if row is not None else ()

    def compare(self) -> None:
        """Send the LIST under the cursor and a cheaper variant, in the Lab."""
        if (row := self.lists.row) is not None:
            self._dashboard.go_to(Place("lab", CompareRef(row.selection)))
