"""The revisions of one key in place of its neighbours, and what changed between two of them."""

from __future__ import annotations

import asyncio

from textual import on, work

from ktui.client.connection import ClientError
from ktui.tui.model.etcd_past import Past, difference, read_history
from ktui.tui.model.etcd_view import StoredKey, read_key
from ktui.tui.model.format import integer
from ktui.tui.screens.asking import AskingScreen
from ktui.tui.screens.etcd.asking import history_path, key_path
from ktui.tui.screens.etcd.columns import revision_columns
from ktui.tui.screens.etcd.value import ValueView
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.rest import Rest
from ktui.tui.widgets.vtable import VTable

REVISIONS = 200
SETTLE = 0.12  # seconds that a cursor must rest before etcd is asked: a patient is not poked at every step


class PastScreen(AskingScreen):
    """The part of the etcd screen that looks back. `past` is None while the present is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.past: Past | None = None
        self._key_rest = Rest(self, SETTLE)

    def revisions_table(self) -> VTable[StoredKey]:
        """The table, for compose."""
        return VTable[StoredKey](
            revision_columns(lambda: self.past or Past("")),
            key=lambda row: row.mod_revision,
            id="revisions",
            empty="reading …",
        )

    @property
    def revisions(self) -> VTable[StoredKey]:
        return self.query_one("#revisions", VTable)

    @property
    def value(self) -> ValueView:
        return self.query_one(ValueView)

    def action_past(self) -> None:
        detail = self.value.detail
        if detail is None:
            return
        self.past = past = Past(detail.key)
        self.add_class("-past")
        self._say_past("reading …")
        self.query_one("#keys-box").border_title = line("revisions")
        self.revisions.focus()
        self.refresh_bindings()
        self._read_past(past)

    @work(group="past", exclusive=True)
    async def _read_past(self, past: Past) -> None:
        try:
            past.put(read_history(await self.ask(history_path(past.key, REVISIONS))))
        except ClientError as error:
            if past is self.past:
                self._say_past("could not be read")
                self.value.fail(str(error))
            return
        if past is self.past:
            self._show_revisions(past)

    def _show_revisions(self, past: Past) -> None:
        """The end of the list says why it is one: the key's creation, or etcd's compaction."""
        count = integer(len(past.revisions))
        told = f"all {count}" if past.complete else f"{count}, older compacted"
        if len(past.revisions) >= REVISIONS:
            told = f"newest {count}"
        self.query_one("#keys-box").border_title = line(f"revisions · {told}")
        self.revisions.set_rows(list(past.revisions))

    @on(VTable.Highlighted, "#revisions")
    def _revision_highlighted(self) -> None:
        if (past := self.past) is not None:
            self._key_rest.then(lambda: self.compare(past))

    @on(VTable.Selected, "#revisions")
    def _revision_selected(self) -> None:
        self.value.focus_view()

    @work(group="value", exclusive=True)
    async def compare(self, past: Past) -> None:
        """Show what changed up to the revision under the cursor; each revision is read once."""
        row = self.revisions.row
        if row is None:
            return
        try:
            for revision in past.missing(row.mod_revision):
                past.keep(read_key(await self.ask(key_path(past.key, past.reveal, revision))))
        except ClientError as error:
            self.value.fail(str(error))
            return
        before, after = (past.read(revision) for revision in past.pair(row.mod_revision))
        if past is self.past and after is not None:
            change = await asyncio.to_thread(difference, before, after)  # megabytes take their time
            self.value.show_change(before, after, change, revealed=past.reveal)
        self.refresh_bindings()

    def action_mark(self) -> None:
        row = self.revisions.row
        if self.past is not None and row is not None:
            self.past.mark(row.mod_revision)
            self.revisions.refresh_lines_shown()
            self.compare(self.past)

    def close_past(self) -> None:
        if self.past is not None:
            self.past = None
            self.remove_class("-past")
            self.refresh_bindings()

    def _say_past(self, text: str) -> None:
        self.revisions.empty = text
        self.revisions.set_rows(())
