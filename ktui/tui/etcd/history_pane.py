"""The revisions of one key, in the place of the list of keys, and the difference between two of them."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual import on, work
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.contract.etcd_documents import KeyDetail, KeyHistory, StoredKey
from ktui.core.format import integer
from ktui.core.object_lines import Line, TextSpan, hex_lines, yaml_lines
from ktui.core.table.columns import Cell, Column
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import figure, line

CONTEXT = 3  # unchanged lines around a change


class KeyRevisions:
    """The revisions of one key, newest first; each is compared with `marked`, or with the previous if 0."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.revisions: list[StoredKey] = []
        self.complete = True
        self.marked = 0
        self.reveal = False
        self._read: dict[tuple[int, bool], KeyDetail] = {}

    def put(self, page: KeyHistory) -> None:
        self.revisions, self.complete = page.revisions, page.complete

    def mark(self, revision: int) -> None:
        self.marked = 0 if self.marked == revision else revision

    def pair(self, revision: int) -> tuple[int, int]:
        """Return the two revisions to compare, the older first; that is 0 if there is none."""
        if self.marked and self.marked != revision:
            return min(self.marked, revision), max(self.marked, revision)
        older = [row.mod_revision for row in self.revisions if row.mod_revision < revision]
        return (older[0] if older else 0), revision

    def keep(self, detail: KeyDetail) -> None:
        self._read[detail.mod_revision, self.reveal] = detail

    def read(self, revision: int) -> KeyDetail | None:
        """Return what was read of a revision with the current `reveal`; None if nothing."""
        return self._read.get((revision, self.reveal))

    def missing(self, revision: int) -> list[int]:
        """Return the revisions to read before `revision` can be compared."""
        return [each for each in self.pair(revision) if each and self.read(each) is None]

    def grown(self, row: StoredKey) -> int | None:
        """Return the bytes by which a revision is larger than the previous one; None if unknown.

        A row of the key before is painted once more while another is opened, or the pane closes.
        """
        if row not in self.revisions:
            return None
        at = self.revisions.index(row)
        if at + 1 >= len(self.revisions):
            return row.bytes if self.complete else None
        before = self.revisions[at + 1].bytes
        return None if row.bytes is None or before is None else row.bytes - before


_CHANGES = {"@": ("", "dim"), "+": ("+ ", "added"), "-": ("− ", "removed")}  # beginning, role of a line


def difference(old: KeyDetail | None, new: KeyDetail) -> list[Line]:
    """Return the changes from `old` (None: the key did not exist) to `new`, as a unified diff.

    The changed lines have a sign (+, −), and the role "added" or "removed".
    """
    before = _texts(old) if old is not None else []
    lines: list[Line] = []
    for text in list(difflib.unified_diff(before, _texts(new), n=CONTEXT, lineterm=""))[2:]:
        sign, rest = text[:1], text[1:]
        begin, role = _CHANGES.get(sign, ("  ", "plain"))
        lines.append((TextSpan(text if sign == "@" else begin + rest, role),))
    return lines


def _texts(detail: KeyDetail) -> list[str]:
    """Return the value's lines: YAML without the resourceVersion (always different), text, or hex."""
    shown = detail.json
    if shown is not None:
        if isinstance(shown, dict) and isinstance(metadata := shown.get("metadata"), dict):
            kept = {name: item for name, item in metadata.items() if name != "resourceVersion"}
            shown = {**shown, "metadata": kept}
        lines = yaml_lines(shown)
    elif detail.text:
        return detail.text.splitlines()
    else:
        lines = hex_lines(bytes.fromhex(detail.hex), detail.raw_bytes)
    return ["".join(span.text for span in line) for line in lines]


def revision_columns(past: Callable[[], KeyRevisions]) -> tuple[Column[StoredKey], ...]:
    """Return the columns of a key's revisions; `past()` has the marked one."""

    def mark(row: StoredKey) -> Cell:
        return ("◆" if past().marked == row.mod_revision else "", "$warning")

    def grown(row: StoredKey) -> Cell:
        change = past().grown(row)
        if change is None:
            return ("?", "$ink-faint")
        return (f"{change:+,}".replace("-", "−"), "$ink-muted")

    return (
        Column("mark", "", mark, width=1, priority=0, about="◆ the revision that others are compared with"),
        Column("rev", "mod rev", lambda row: integer(row.mod_revision), lambda row: row.mod_revision, 10,
               copied=lambda row: str(row.mod_revision), align="right", priority=0, descending=True,
               about="mod_revision: the revision of this write", unit="rv"),
        figure("version", "version", lambda row: row.version, "writes since it was created", width=7,
               priority=4, cell=lambda row: integer(row.version)),
        figure("bytes", "bytes", lambda row: row.bytes or 0, "size of the value then", width=8, unit="B",
               cell=lambda row: integer(row.bytes or 0)),
        Column("grown", "change", grown, width=8, align="right", priority=3,
               about="change in bytes since the revision before", unit="B"),
    )  # fmt: skip


REVISIONS = 200


class HistoryPane(ServerPane):
    """`past` has the revisions shown; None while the pane is closed."""

    @dataclass
    class Compared(Message):
        """Two revisions have been compared; `before` is None if the key did not exist before."""

        before: KeyDetail | None
        after: KeyDetail
        change: list[Line]

    def __init__(self) -> None:
        super().__init__(id="past-box", classes="box")
        columns = revision_columns(lambda: self.past or KeyRevisions(""))
        self.table = VTable(columns, key=lambda row: row.mod_revision, id="revisions", empty="reading …")
        self.past: KeyRevisions | None = None
        self._wanted = 0  # the revision to put the cursor on once it is read

    # Opening and closing.

    def open(self, key: str, revision: int = 0) -> None:
        """Show a key's revisions, with the cursor on `revision`."""
        self.past, self._wanted = KeyRevisions(key), revision
        self.screen.add_class("-past")
        self.border_title = line("revisions")
        self.say(self.table, "reading …")
        self.table.focus()
        self.screen.refresh_bindings()
        self._read(self.past)

    def close(self) -> None:
        if self.past is not None:
            self.past = None
            self.screen.remove_class("-past")
            self.screen.refresh_bindings()

    def mark(self) -> None:
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
            self.server_screen.read_selected(partial(self._compare, self.past))

    # Reading.

    @work(group="past", exclusive=True)
    async def _read(self, past: KeyRevisions) -> None:
        try:
            past.put(await self.server.key_history(past.key, REVISIONS))
        except ClientError as error:
            if past is self.past:
                self.could_not_read(error)
            return
        if past is self.past:
            self._show(past)

    def _show(self, past: KeyRevisions) -> None:
        """Show the revisions; the title says whether older ones were compacted."""
        count = integer(len(past.revisions))
        if len(past.revisions) >= REVISIONS:
            title = f"newest {count}"
        else:
            title = f"all {count}" if past.complete else f"{count}, older compacted"
        self.border_title = line(f"revisions · {title}")
        self.table.set_rows(list(past.revisions))
        wanted, self._wanted = self._wanted, 0
        if wanted:
            self.table.go_to(wanted)

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
        self.once_settled(self.compare)
