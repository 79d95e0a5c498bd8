"""The keys below one prefix, read page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from textual import on, work
from textual.message import Message

from ktui.client.connection import ClientError
from ktui.contract.etcd_documents import KeyPage, StoredKey
from ktui.core.format import integer, short_bytes
from ktui.core.table.columns import Column
from ktui.tui.etcd.value_pane import key_tail
from ktui.tui.screen_bases.server_screen import ServerPane
from ktui.tui.table.paged_table import OnDemandTable
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import figure, line


def key_columns(shared: Callable[[], str]) -> tuple[Column[StoredKey], ...]:
    """Return the columns of keys that all begin with `shared()`, which their names leave out."""

    def name(row: StoredKey) -> str:
        return row.key.removeprefix(shared()) or row.key

    return (
        Column("key", "key", name, width=24, wish=28, flex=1, priority=0, tail=True,
               copied=lambda row: row.key, about="the key, without what is in the title"),
        figure("rev", "mod rev", lambda row: row.mod_revision, "mod_revision: the revision of its last write",
               width=9, priority=2, unit="rv", cell=lambda row: integer(row.mod_revision)),
        figure("version", "version", lambda row: row.version, "writes since it was created", width=7,
               priority=3, cell=lambda row: integer(row.version)),
        Column("lease", "lease", lambda row: ("ttl" if row.lease else "", "$route-wait"),
               lambda row: row.lease, 5, priority=4, about="time until its lease expires"),
        figure("bytes", "bytes", lambda row: row.bytes or 0, "size of its value", width=6, unit="B",
               cell=lambda row: (short_bytes(row.bytes) if row.bytes is not None else "–", "$ink-muted")),
    )  # fmt: skip


class KeyList:
    """Keys of one prefix, page by page in key order, or the first ones in another order."""

    def __init__(self, prefix: str, sort: str = "") -> None:
        """`sort`: a column, with a leading `-` for descending order; "": by key, page by page."""
        self.prefix = prefix
        self.shared = prefix  # what the names leave out: more than the prefix if all keys were read at once
        self.sort = sort
        self.keys: list[StoredKey] = []
        self.count = 0
        self.revision = 0
        self.after = ""  # the key after which the next page begins
        self.complete = False

    def wants_more(self, last_visible: int, ahead: int) -> bool:
        """Return True if row `last_visible` is within `ahead` rows of the last key read."""
        return not self.complete and last_visible + ahead >= len(self.keys)

    def extend(self, page: KeyPage) -> None:
        if not self.keys and page.keys and not page.next:
            common = commonprefix([key.key for key in page.keys])  # noqa: RUF071  # cut at a slash
            self.shared = max(self.prefix, common[: common.rfind("/") + 1], key=len)
        self.keys.extend(page.keys)
        self.count = max(page.count, len(self.keys))
        self.revision = page.revision
        self.after, self.complete = page.next, not page.next


PAGE = 500
ALL_AT_ONCE = 10_000  # keys per response when all are read for an export
TOP = 2_000  # keys per response when the server sorts


class KeysPane(ServerPane):
    """`list` has the keys read so far; `wanted` is the key to put the cursor on, "" for none."""

    table: OnDemandTable[StoredKey]

    @dataclass
    class Rested(Message):
        """The cursor has stopped on a key."""

        key: str

    def __init__(self) -> None:
        super().__init__(id="keys-box", classes="box")
        columns = key_columns(lambda: self.list.shared)
        self.table = OnDemandTable(columns, key=lambda row: row.key, id="keys", empty="choose a prefix")
        self.table.read_all = self._read_all
        self.list = KeyList("")
        self.wanted = ""
        self._short_prefix = ""  # for the title: without the tree's root
        self._number = ""  # of keys, for the title
        self.border_title = line("keys")

    # Which keys are shown.

    def start(self, prefix: str, root: str) -> None:
        """Read the keys below a prefix from the first; the title leaves out the tree's `root`."""
        self.list = KeyList(prefix)
        self._short_prefix = prefix.removeprefix(root) or prefix
        self._number = ""
        self._entitle()
        self.say(self.table, "reading …")
        self._read(self.list)

    def read_again(self) -> None:
        """Read the keys again; until then the old ones are shown, and the cursor stays on its key."""
        if self.list.prefix:
            row = self.table.row
            self.wanted = self.wanted or (row.key if row is not None else "")
            self.list = KeyList(self.list.prefix, self.list.sort)
            self._read(self.list)

    def clear(self) -> None:
        """Show no prefix, so that the next one is read, even if it is the same."""
        self.list = KeyList("")
        self.wanted = ""
        self.border_title = line("keys")
        self.say(self.table, "choose a prefix")

    def on_resize(self) -> None:
        if self.list.prefix:
            self._entitle()

    def _entitle(self) -> None:
        prefix = self._short_prefix + self.list.shared.removeprefix(self.list.prefix)
        room = max(10, self.size.width - len(self._number) - 4)
        self.border_title = line(f"{key_tail(prefix, room)}{self._number}")

    def select_key(self, key: str) -> None:
        """Put the cursor on a key, now or once the key has been read; "" ends that."""
        self.wanted = key
        self._put_cursor()

    def show(self) -> None:
        keys = self.list
        some, order = len(keys.keys) < keys.count, keys.sort.removeprefix("-")
        read = f"{integer(len(keys.keys))} of " if some else ""
        by = f" by {order}" if order else ""
        self._number = f" · {read}{integer(keys.count)}{by}"
        self._entitle()
        if some and not order:  # the table can sort only when it has all keys
            self.table.sorted_by_owner = False
            self.table.sort_by_keys(())
        self.table.sorted_by_owner = some
        self.table.empty = "no keys here"
        self.table.set_rows(list(keys.keys))
        self.ktui.keys_seen.add(key.key for key in keys.keys)
        self._put_cursor()

    def _put_cursor(self) -> None:
        if self.wanted:
            self.table.go_to(self.wanted)

    # Reading.

    @on(OnDemandTable.Wanted)
    def _more_wanted(self, event: OnDemandTable.Wanted) -> None:
        # A filter shows few rows of many: that must not have the whole prefix read.
        if not self.table.filter and self.list.keys and self.list.wants_more(event.last, PAGE // 5):
            self._read(self.list)

    @work(group="keys", exclusive=True)
    async def _read(self, keys: KeyList) -> None:
        try:
            page = await self.server.keys(keys.prefix, TOP if keys.sort else PAGE, keys.after, keys.sort)
        except ClientError as error:
            if keys is self.list:
                self.could_not_read(error)
            return
        keys.extend(page)
        if keys is self.list:
            self.show()

    @on(OnDemandTable.Sorted)
    def _sort(self, event: OnDemandTable.Sorted) -> None:
        """Have the server read and sort all keys, and return the first TOP of them."""
        self.list = KeyList(self.list.prefix, f"{'-' if event.descending else ''}{event.column}")
        self.table.move_to(0)
        self.say(self.table, "the server reads and sorts all keys …")
        self._read(self.list)

    async def _read_all(self) -> Sequence[StoredKey]:
        """Read all keys of the prefix that match the filter, for an export. Raises ClientError."""
        keys, known = KeyList(self.list.prefix), self.table.filter
        while not keys.keys or not keys.complete:
            keys.extend(await self.server.keys(keys.prefix, ALL_AT_ONCE, keys.after))
            if not keys.keys:
                break
        return [key for key in keys.keys if known.matches(key)] if known else keys.keys

    # The cursor.

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        key = event.row.key
        if key == self.wanted or (self.wanted and not event.by_user):
            return  # that key is being read already, or the cursor is moving to it
        self.wanted = ""
        self.once_settled(lambda: self.post_message(self.Rested(key)))
