"""Copy to the clipboard and export to a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work

from ktui.core.format import many, safe, shorten
from ktui.core.table.columns import Column
from ktui.tui.keys.hints import key_of
from ktui.tui.screen_bases.filtering import FilteringScreen

if TYPE_CHECKING:
    from ktui.core.table.export import Form

AT_ONCE = 2_000  # rows that are written while one waits
_SHOWN = 60  # characters of what was copied that the message shows


class ExportingScreen(FilteringScreen):
    """`c` copies, `e` and `E` export."""

    _copied: object = None  # the row whose main cell was copied last

    def action_copy(self) -> None:
        """The main cell of the row; the same key again: the whole row."""
        table = self.active_table()
        if table is None or table.row is None:
            self.notify("nothing selected", markup=False)
            return
        whole = self._copied == table.row_key
        self._copied = None if whole else table.row_key
        text = table.row_text if whole else table.telling_text
        self.app.copy_to_clipboard(text)
        more = "" if whole else f" · {key_of('copy')} again copies the whole row"
        self.notify(f"to the clipboard: {shorten(safe(text), _SHOWN)}{more}", markup=False)

    def action_export(self, form: Form = "csv") -> None:
        """Write the rows shown into a new file of the working directory."""
        table = self.active_table()
        if table is None:
            return
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self.ktui.clock()))
        path = Path.cwd() / f"ktui-{self.ktui.current_mode}-{stamp}.{form}"
        columns, rows = table.columns, list(table.rows)
        if len(rows) <= AT_ONCE:
            self.notify(*_write(path, form, columns, rows))
        else:
            self._write_aside(path, form, columns, rows)

    @work(thread=True, group="export")
    def _write_aside(
        self, path: Path, form: Form, columns: Sequence[Column[Any]], rows: Sequence[Any]
    ) -> None:
        text = _write(path, form, columns, rows)
        self.app.call_from_thread(self.notify, *text)


def _write(path: Path, form: Form, columns: Sequence[Column[Any]], rows: Sequence[Any]) -> tuple[str]:
    """What has been written, or why nothing was."""
    from ktui.core.table.export import text_of  # start-up time

    try:
        path = new_file(path)
        path.write_text(text_of(form, columns, rows), encoding="utf-8")
    except OSError as error:
        return (f"cannot write {path}: {error.strerror}",)
    return (f"{many(len(rows), 'row')} written to {path}",)


def new_file(path: Path) -> Path:
    """Make an empty file of this name, or `name-2` … where there is one: nothing is overwritten."""
    for number in range(1, 1000):
        chosen = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        try:
            chosen.touch(exist_ok=False)
        except FileExistsError:
            continue
        return chosen
    raise FileExistsError(17, "too many exports with that name", str(path))
