"""Copy to the clipboard and export to a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ktui.client.connection import ClientError
from ktui.core.format import many, safe, shorten
from ktui.core.rows import RequestRow
from ktui.core.table.columns import Column
from ktui.tui.keys.hints import key_of
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.screen_bases.filtering import FilteringScreen
from ktui.tui.table.paged_table import OnDemandTable
from ktui.tui.table.vtable import VTable

if TYPE_CHECKING:
    from ktui.core.table.export import Form

_SHOWN = 60  # characters of the copied text that the notice shows
Copies = Sequence[tuple[str, str]]  # (what it is, text)


class ExportingScreen(FilteringScreen):
    """`c` copies, `e` and `E` export."""

    _copied: tuple[Any, int] = (None, 0)  # the first of the last `copies`, and the index of the copied one

    def copies(self) -> Copies:
        """Return the texts that `c` copies in turn; the row's raw values come last."""
        table = self.active_table()
        if table is None or table.row is None:
            return ()
        row = ("the row's values", table.row_text)
        if isinstance(table.row, RequestRow):
            return (*self._request_copies(table.row), row)
        return (("", table.main_text), row)

    def _request_copies(self, row: RequestRow) -> Copies:
        from ktui.core.lab.form import ListForm  # start-up time
        from ktui.core.snippets import as_curl

        client = self.ktui.client
        server = client.connection.url if client is not None else ""
        return (("URL", f"{server}{row.target}"), ("curl", as_curl(row.target, ListForm())))

    def action_copy(self) -> None:
        """Copy the first text of the selection; at once again, the next one."""
        forms = self.copies()
        if not forms:
            self.notify("nothing selected", markup=False)
            return
        before, place = self._copied
        place = (place + 1) % len(forms) if before == forms[0] else 0
        self._copied = (forms[0], place)
        what, text = forms[place]
        self.app.copy_to_clipboard(text)
        following = forms[(place + 1) % len(forms)][0] or "the selection"
        more = f" · {key_of('copy')} again copies {following}" if len(forms) > 1 else ""
        named = f"{what}: " if what else ""
        self.notify(f"to the clipboard: {named}{shorten(safe(text), _SHOWN)}{more}", markup=False)

    def action_export(self, form: Form = "csv") -> None:
        """Prompt for a file name and write all rows of the table to that file."""
        table = self.active_table()
        if table is None:
            return
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self.ktui.clock()))
        name = _free(Path(f"ktui-{self.ktui.current_mode}-{stamp}.{form}"))

        def entered(text: str) -> str:
            path = Path(text.strip()).expanduser()
            if not text.strip():
                return "a file needs a name"
            if path.exists():
                return f"{path} exists: another name, please"
            self.run_worker(self._export(table, path.absolute(), form), group="export")
            return ""

        self.query_one(Prompt).open(
            "export to ",
            str(name),
            hint=f"enter writes {many(len(table.rows), 'row')} · esc cancels",
            typed=lambda text: "",
            entered=entered,
        )

    async def _export(self, table: VTable[Any], path: Path, form: Form) -> None:
        """Write the rows and notify; missing rows are read first, and nothing is written if that fails."""
        try:
            read_all = table.read_all if isinstance(table, OnDemandTable) else None
            rows = list(table.rows if read_all is None else await read_all())
        except ClientError as error:
            self.notify(
                f"nothing written: not all rows could be read: {error}", severity="error", markup=False
            )
            return
        text = await asyncio.to_thread(partial(_write, path, form, table.columns, rows))
        self.notify(text, markup=False)


def _write(path: Path, form: Form, columns: Sequence[Column[Any]], rows: Sequence[Any]) -> str:
    """Write the rows to `path`. Return how many were written, or why none."""
    from ktui.core.table.export import text_of  # start-up time

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text_of(form, columns, rows))
    except OSError as error:
        return f"cannot write {path}: {error.strerror}"
    return f"{many(len(rows), 'row')} written to {path}"


def _free(path: Path) -> Path:
    """Return this name, or `name-2` … if the file exists: no file is overwritten."""
    names = (path if number == 1 else path.with_stem(f"{path.stem}-{number}") for number in range(1, 1000))
    return next((name for name in names if not name.exists()), path)
