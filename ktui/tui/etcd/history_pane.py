"""The revisions of one key, in the place of the list of keys, and the difference between two of them."""

from __future__ import annotations

import asyncio
from functools import partial

from textual import on, work
from textual.app import ComposeResult
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.contract.etcd_documents import KeyDetail, StoredKey
from ktui.core.format import integer
from ktui.tui.etcd.etcd_rows import Difference, KeyRevisions, difference, revision_columns
from ktui.tui.etcd.places import SETTLE, Debounce
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line

REVISIONS = 200


class HistoryPane(ServerPane):
    """`past` has the revisions shown; None while the pane is closed."""

    class Compared(Message):
        """Two revisions have been compared; `before` is None if the key did not exist before."""

        def __init__(self, before: KeyDetail | None, after: KeyDetail, change: Difference) -> None:
            super().__init__()
            self.before = before
            self.after = after
            self.change = change

    class Entered(Message):
        """Enter was pressed on a revision."""

    def __init__(self) -> None:
        super().__init__(id="past-box", classes="box")
        self.past: KeyRevisions | None = None
        self._wanted = 0  # the revision to put the cursor on once it is read
        self._debounce = Debounce(self, SETTLE)

    def compose(self) -> ComposeResult:
        yield VTable[StoredKey](
            revision_columns(lambda: self.past or KeyRevisions("")),
            key=lambda row: row.mod_revision,
            id="revisions",
            empty="reading …",
        )

    @property
    def table(self) -> VTable[StoredKey]:
        return self.query_one("#revisions", VTable)

    # Opening and closing.

    def open(self, key: str, revision: int = 0) -> None:
        """Show a key's revisions, with the cursor on `revision`."""
        self.past, self._wanted = KeyRevisions(key), revision
        self.screen.add_class("-past")
        self.border_title = line("revisions")
        self.table.empty = "reading …"
        self.table.set_rows(())
        self.table.focus()
        self.screen.refresh_bindings()
        self._read(self.past)

    def close(self) -> None:
        """Return to the list of keys."""
        if self.past is not None:
            self.past = None
            self.screen.remove_class("-past")
            self.screen.refresh_bindings()

    def mark(self) -> None:
        """Compare with the revision under the cursor from now on."""
        if self.past is not None and self.table.row is not None:
            self.past.mark(self.table.row.mod_revision)
            self.table.refresh_lines_shown()
            self.compare()

    def reveal(self) -> None:
        """Show the values of a Secret too."""
        if self.past is not None:
            self.past.reveal = True
            self.compare()

    def compare(self) -> None:
        """Show what the revision under the cursor changed."""
        if self.past is not None:
            self.replace_read(partial(self._compare, self.past))

    # Reading.

    @work(group="past", exclusive=True)
    async def _read(self, past: KeyRevisions) -> None:
        try:
            past.put(await self.server.key_history(past.key, REVISIONS))
        except ClientError as error:
            if past is self.past:
                self.table.empty = "could not be read"
                self.table.set_rows(())
                self.post_message(self.Failed(str(error)))
            return
        if past is self.past:
            self._show(past)

    def _show(self, past: KeyRevisions) -> None:
        """Show the revisions; the title says whether older ones were compacted."""
        count = integer(len(past.revisions))
        title = f"all {count}" if past.complete else f"{count}, older compacted"
        if len(past.revisions) >= REVISIONS:
            title = f"newest {count}"
        self.border_title = line(f"revisions · {title}")
        self.table.set_rows(list(past.revisions))
        wanted, self._wanted = self._wanted, 0
        shown = [row.mod_revision for row in self.table.rows]
        if wanted in shown:
            self.table.move_to(shown.index(wanted))

    async def _compare(self, past: KeyRevisions) -> None:
        """Read the two revisions, each at most once, and post their difference."""
        row = self.table.row
        if row is None:
            return
        try:
            for revision in past.missing(row.mod_revision):
                past.keep(await self.server.key(past.key, revision=revision, reveal=past.reveal))
        except ClientError as error:
            self.post_message(self.Failed(str(error)))
            return
        before, after = (past.read(revision) for revision in past.pair(row.mod_revision))
        if past is self.past and after is not None:
            change = await asyncio.to_thread(difference, before, after)  # slow for megabytes
            self.post_message(self.Compared(before, after, change))

    # What the cursor does.

    @on(VTable.Highlighted)
    def _highlighted(self) -> None:
        self._debounce.schedule(self.compare)

    @on(VTable.Selected)
    def _selected(self) -> None:
        self.post_message(self.Entered())
