"""The Overview of an etcd without requests through ktui: what it stores, and what LISTs would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from textual import on
from textual.content import Content

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.contract.etcd_documents import Churn
from ktui.core.format import duration, integer, long_bytes, many
from ktui.core.references import CompareRef, KeyRef, Place, PrefixRef, Read, Reference, ResourceRef, Selection
from ktui.core.state import State
from ktui.core.stored import PossibleList, Survey, joined
from ktui.tui.dashboard import OnDashboard
from ktui.tui.overview import stored_columns as columns
from ktui.tui.overview import stored_panels as panels
from ktui.tui.overview.holdings import PrefixTable
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel, VerticalArea, tabs_content

VERSIONS = ("1.24", "1.30", "1.31", "1.34", "1.36")
TITLES = ("LISTs", "sources", "largest objects", "managedFields", "churn", "hottest keys")
POSSIBLE, SOURCES, LARGEST, WEIGHTS, CHURN, HOTTEST = range(len(TITLES))
NO_SOURCES = "no LIST in metrics or log yet: --kubeconfig adds how it was served, --follow-audit who asks"
NOT_READ = "not read yet: x reads every value once, in small pieces"
NOT_WATCHED = "not watched yet: x opens one watch"
READING, WATCHING = "survey", "churn"  # groups of workers


class StoredPane(VerticalArea, OnDashboard):
    """Tables over what etcd stores, with details of the selected row below.

    On request, and after a question about the load, it reads all values or watches the changes.
    """

    def __init__(self) -> None:
        self._shown = POSSIBLE
        self._table_chosen = False  # by the user, or when sources became known
        self._group_versions: dict[str, str] | None = None
        self.survey = Survey()  # of the values read so far
        self.churn: Churn | None = None  # of the newest watch
        self._watched = ""  # its prefix
        self._going: set[str] = set()  # groups whose worker runs
        self.tables: list[VTable[Any]] = [
            _table("possible", columns.list_columns(VERSIONS), _list_key, "etcd's keys are being counted"),
            _table("sources", columns.SOURCES, lambda row: row.resource, NO_SOURCES),
            _table("largest", columns.LARGEST, lambda row: row.key, NOT_READ),
            _table("weights", columns.WEIGHTS, lambda row: row.resource, NOT_READ),
            _table("churn", columns.CHURN, lambda row: row.churn.resource, NOT_WATCHED),
            _table("hottest", columns.HOTTEST, lambda row: row.churn.key, NOT_WATCHED),
        ]
        tabs, detail = Panel(id="stored-tabs"), Panel(id="stored-detail", classes="box")
        super().__init__(tabs, *self.tables, detail, id="stored")

    def on_mount(self) -> None:
        self._show_table(POSSIBLE)

    @property
    def table(self) -> VTable[Any]:
        return self.tables[self._shown]

    @property
    def lists(self) -> VTable[PossibleList]:
        return self.tables[POSSIBLE]

    def turn(self) -> None:
        self._table_chosen = True
        self._show_table((self._shown + 1) % self._count)
        if self._shown == LARGEST and self._own_etcd and not self.survey.keys:
            self._start_or_stop("", watch=False)
        self.show()

    def decide_table(self, state: State) -> None:
        """Show the sources once metrics or a log report LISTs: they are more than predictions."""
        if not self._table_chosen and (state.live.server is not None or state.live.asked):
            self._table_chosen = True
            self._show_table(SOURCES)

    @property
    def _count(self) -> int:
        """Number of tables: a snapshot has none about changes."""
        server = self.ktui.state.server
        return CHURN if server is not None and server.etcd_kind == "snapshot" else len(self.tables)

    def _show_table(self, index: int) -> None:
        focused = self.table.has_focus
        self._shown = index
        if focused:
            self.table.focus()
        for place, table in enumerate(self.tables):
            table.display = place == index
        self.query_one("#stored-tabs", Panel).show(
            lambda width, height: tabs_content(TITLES[: self._count], index, width, ("overview.ranking",))
        )

    # Painting.

    def paint(self, state: State) -> None:
        self.decide_table(state)
        stamp = (id(state), state.touched.prefixes, state.server, self._group_versions)
        if state.server is not None and self.lists.outdated(*stamp):
            self.run_worker(self._predict(state), group="predicted", exclusive=True)
        self.show()

    def show(self) -> None:
        """Show what has been read and watched so far, and details of the row under the cursor."""
        shown = self._shown
        if shown == SOURCES:  # LISTs by all sources, joined again after a change of one of them
            state = self.ktui.state
            if self.table.outdated(id(state), state.live.touched, state.touched.prefixes):
                entitle(self.table, panels.sources_title(state.live))
                self.table.set_rows(joined(state))
            self._show_detail()
            return
        churn = self.churn or Churn(0.0, 0)
        texts: dict[int, tuple[str, str, Sequence[Any] | None]] = {
            POSSIBLE: ("LISTs that anyone could send", " · predicted", None),
            LARGEST: ("largest objects", self._read_text, self.survey.largest),
            WEIGHTS: ("managedFields by resource", self._read_text, self.survey.heaviest()),
            CHURN: ("changes by resource", self._watched_text, columns.rates(churn, churn.resources)),
            HOTTEST: ("hottest keys", self._watched_text, columns.rates(churn, churn.keys)),
        }
        title, more, rows = texts[shown]
        entitle(self.table, line(title, (more, "$ink-muted")))
        if rows is not None:
            self.table.set_rows(list(rows))
        self._show_detail()

    @property
    def _read_text(self) -> str:
        if not self.survey.keys:
            return " · reading" if READING in self._going else ""
        of = sum(prefix.count for prefix in self.ktui.state.prefixes.values())
        going = "reading, " if READING in self._going else ""
        read = f"{integer(self.survey.keys)} of {integer(max(of, self.survey.keys))} keys"
        return f" · {going}{read}, {long_bytes(self.survey.bytes)}"

    @property
    def _watched_text(self) -> str:
        churn = self.churn
        if churn is None:
            return " · the watch is being opened" if WATCHING in self._going else ""
        still = "" if WATCHING in self._going else "stopped, "
        leases = f", {many(churn.leases, 'lease')} on {many(churn.leased, 'key')}" if churn.leases else ""
        return f" · {still}{self._watched or '/registry'} for {duration(churn.seconds)}{leases}"

    @on(VTable.Highlighted)
    def _show_detail(self) -> None:
        shown = self._shown
        row, state = self.table.row, self.ktui.state
        detail = self.query_one("#stored-detail", Panel)
        of = row.resource if row is not None and shown == SOURCES else "by source"
        leased = self.churn if shown == HOTTEST and self.churn is not None and self.churn.leases else None
        about = {POSSIBLE: "predicted, caches ready", SOURCES: of}.get(shown, "ktui's load on etcd")
        entitle(detail, line(about if leased is None else "leases of the changed keys"))

        def content(width: int, height: int) -> Content:
            if shown == POSSIBLE:
                return panels.list_content(row, width, height)
            if shown == SOURCES:
                return panels.sources_content(row, width, height)
            if leased is not None:
                return panels.leases_content(leased, width, height)
            return panels.load_content(state, watch=shown in (CHURN, HOTTEST), width=width, height=height)

        detail.show(content, (row if shown in (POSSIBLE, SOURCES) else leased or state.touched.head, shown))

    async def _predict(self, state: State) -> None:
        """Predict LISTs: five versions' rules for hundreds of LISTs, in steps of about 1 ms."""
        from ktui.core.prediction.assumptions import server_behaviour  # start-up time
        from ktui.core.stored import most_expensive, possible_lists

        if self._group_versions is None:
            self._group_versions = await self._ask_groups()
        found, head = [], state.head
        for item in possible_lists(
            list(state.prefixes.values()),
            server_behaviour(state),
            # Not compacted, and older than the caches' snapshots.
            head.revision - (head.revision - head.compact) // 2 if head.compact else head.revision,
            progress=state.progress,
            group_versions=self._group_versions,
        ):
            found.append(item)
            await asyncio.sleep(0)
        self.lists.set_rows(most_expensive(found))
        self.show()

    async def _ask_groups(self) -> dict[str, str]:
        """Return each API group's preferred version, for paths of custom resources; {} in a recording."""
        client = self.ktui.client
        if client is None:
            return {}
        try:
            document = await client.get_json("/apis")
        except ClientError:
            return {}
        groups = document.get("groups", []) if isinstance(document, Mapping) else []
        return {group["name"]: group["preferredVersion"]["version"] for group in groups}

    # What is under the cursor.

    @on(VTable.Selected)
    def _selected(self, event: VTable.Selected) -> None:
        event.stop()
        if references := self.references():
            first = references[0]
            self.ktui.go_to(Place("lab" if isinstance(first, Read) else "etcd", first))

    @property
    def selection(self) -> Selection | None:
        """The LIST under the cursor; None in other tables."""
        row = self.lists.row if self._shown == POSSIBLE else None
        return row.selection if row is not None else None

    def references(self) -> Sequence[Reference]:
        row = self.table.row
        if row is None:
            return ()
        if self._shown == POSSIBLE:
            return (Read(row.selection), ResourceRef(row.resource))
        if self._shown == SOURCES:
            return (PrefixRef(row.stored.prefix),) if row.stored is not None else ()
        if self._shown in (LARGEST, HOTTEST):
            return (KeyRef(row.key if self._shown == LARGEST else row.churn.key),)
        return ()

    def compare(self) -> None:
        if (selection := self.selection) is not None:
            self.ktui.go_to(Place("lab", CompareRef(selection)))

    def read_or_stop(self, prefixes: PrefixTable) -> None:
        """Start or stop reading values or watching changes, after a dialog on the load that this causes.

        While the tree of prefixes has the focus, only its selected prefix is read.
        """
        row = prefixes.row if prefixes.has_focus else None
        if self._shown == POSSIBLE:
            self._show_table(LARGEST)
            self.show()
        self._start_or_stop(row.prefix if row is not None else "", watch=self._shown in (CHURN, HOTTEST))

    @property
    def _own_etcd(self) -> bool:
        """True for an etcd that ktui started, on which nothing else depends."""
        server = self.ktui.state.server
        return server is None or server.etcd_kind != "external"

    def _start_or_stop(self, prefix: str, *, watch: bool) -> None:
        group, client, state = WATCHING if watch else READING, self.ktui.client, self.ktui.state
        if group in self._going:
            self.workers.cancel_group(self, group)
            self._going.discard(group)
            self.show()
            return
        if client is None:
            self.notify("a recording has no etcd to read")
            return

        def go(_: bool) -> None:
            api = KtuiApi(client)
            work = self._read_changes(api, prefix) if watch else self._read_values(api, prefix)
            self._going.add(group)
            self.run_worker(work, group=group, exclusive=True)

        if self._own_etcd:
            go(True)
            return
        from ktui.tui.dialogs.dialog import ConfirmScreen  # start-up time

        text = panels.load_of_watch(state, prefix) if watch else panels.load_of_reading(state, prefix)
        ConfirmScreen("watch what changes" if watch else "read all values", text).ask(self.app, go)

    async def _read_values(self, api: KtuiApi, prefix: str) -> None:
        """Read all values below `prefix` in pieces, between which it can be stopped."""
        self.survey = Survey()
        prefixes = self.ktui.state.prefixes.values()
        chosen = [item for item in prefixes if item.prefix.startswith(prefix) and item.count]
        try:
            with self.ktui.notifying_errors("reading values"):
                for item in sorted(chosen, key=lambda found: -found.bytes):
                    after = ""
                    while True:
                        page = await api.survey(item.prefix, after)
                        self.survey.add(item.resource or item.prefix, page)
                        self.show()
                        after = page.next
                        if not after:
                            break
        finally:
            self._going.discard(READING)
        self.show()

    async def _read_changes(self, api: KtuiApi, prefix: str) -> None:
        self.churn, self._watched = None, prefix
        try:
            with self.ktui.notifying_errors("watching etcd"):
                async with aclosing(api.churn(prefix or None)) as reports:
                    async for report in reports:
                        self.churn = report
                        self.show()
        finally:
            self._going.discard(WATCHING)


def _table(name: str, of: Sequence[Any], key: Any, empty: str) -> VTable[Any]:
    return VTable(of, key=key, id=name, classes="box", empty=empty)


def _list_key(row: PossibleList) -> tuple[str, str]:
    """Return the resource and the first parameter of the query, which identify a row."""
    return (row.resource, row.target.partition("?")[2].partition("=")[0])
