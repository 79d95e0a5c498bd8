"""The keys of tables and texts, the same on every screen.

The app's keys reach these actions as `screen.sort` and so on: only screens with tables have them.
Their dialogs are imported when they open, which keeps the time to the first frame short.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from msgspec.structs import replace
from textual import on
from textual.widget import Widget

from ktui.client.connection import ClientError
from ktui.core.format import many, safe, shorten
from ktui.core.request_view import READS
from ktui.core.rows import RequestRow
from ktui.core.table.columns import Column
from ktui.core.table.filter import FilterError, terms_of
from ktui.tui.compat import WholeScreen
from ktui.tui.dashboard import OnDashboard
from ktui.tui.keys.hints import key_of
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.prompt.typing_help import TypingHelp
from ktui.tui.table.marks import Mood
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle

if TYPE_CHECKING:
    from ktui.core.table.export import Form
    from ktui.tui.widgets.line_view import LineView


_SHOWN = 60  # characters of the copied text that the notice shows
Copies = Sequence[tuple[str, str]]  # (what it is, text)


class TableScreen(WholeScreen, OnDashboard):
    """A screen with tables and a Prompt: filter, sort, hold, choose columns, copy, export."""

    MODE: ClassVar[str] = ""

    _prompt_for: VTable[Any] | None = None  # the table whose filter is being typed
    _searched: LineView | None = None  # the text that is being searched
    _carried = ""  # the carried filter that was last applied here
    _paused = False  # whether the frames show the dashboard as paused
    _copied: tuple[Any, int] = (None, 0)  # the first of the last `copies`, and the index of the copied one

    def __init__(self) -> None:
        super().__init__()
        self._framed: WeakSet[VTable[Any]] = WeakSet()  # tables whose frames have had a text
        self._zoomed: list[Widget] = []  # widgets whose place a zoom has changed

    def active_table(self) -> VTable[Any] | None:
        """The table that `/`, `s` and `e` act on: the one with the focus, else the first."""
        if isinstance(self.focused, VTable):
            return self.focused
        return next(iter(self.query(VTable)), None)

    def on_mount(self) -> None:
        for table in self.query(VTable):
            if chosen := self.ktui.tables.columns.of(self.table_id(table)):
                table.choose_columns(chosen)

    def table_id(self, table: VTable[Any]) -> str:
        """Return a table's id in the config and state files: `requests.log`."""
        return f"{self.MODE}.{table.name or table.id}"

    # Typing.

    def action_filter(self) -> None:
        from ktui.tui.widgets.line_view import LineView  # start-up time

        if isinstance(self.focused, LineView):
            self._search(self.focused)
            return
        table = self.active_table()
        if table is None:
            return

        def typed(text: str, typing: bool = True) -> str:
            try:
                table.set_filter(text, self._carried_terms(table), typing=typing)
            except FilterError as error:
                return str(error)
            return ""

        def entered(text: str) -> str:
            problem = typed(text, typing=False)
            if not problem:
                self._carry_filter(table)
            return problem

        self.query_one(Prompt).open(
            "/", table.filter.text, hint=table.filter_hint, typed=typed, entered=entered,
            line_help=None if table.filter_hint else TypingHelp(table), history=self.ktui.tables.typed,
        )  # fmt: skip
        self._prompt_for = table

    def _search(self, view: LineView) -> None:
        """Search the focused text; `n` and `N` go to further matches."""

        def typed(text: str) -> str:
            return "" if view.search(text) != "not found" else "not found"

        def entered(text: str) -> str:
            self.notify(view.search(text), timeout=2)
            return ""

        self._searched = view
        hint = f"{key_of('lines.next')} next · {key_of('lines.previous')} previous"
        self.query_one(Prompt).open("/", "", hint=hint, typed=typed, entered=entered)

    @on(Prompt.Closed)
    def _prompt_closed(self, event: Prompt.Closed) -> None:
        table, self._prompt_for = self._prompt_for, None
        if table is not None and not event.kept:
            table.action_clear_filter()
        view, self._searched = self._searched, None
        target: Widget | None = view or table or self.active_table()
        if target is not None:
            target.focus()
        else:
            self.set_focus(None)

    # Carrying the filter to other screens.

    def _carried_terms(self, table: VTable[Any]) -> list[str]:
        """Return terms that may name columns of other tables: here they have no effect."""
        return [term.text for term in terms_of(self.ktui.tables.filter)] if table.share else []

    def _carry_filter(self, table: VTable[Any]) -> None:
        if table.share:
            self.ktui.tables.filter = self._carried = table.filter.text

    @on(VTable.FilterCleared)
    def _filter_cleared(self, event: VTable.FilterCleared) -> None:
        self._carry_filter(event.table)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._apply_carried_filter)

    def _apply_carried_filter(self) -> None:
        """Apply the filter that was set on another screen since this one was last shown."""
        carried = self.ktui.tables.filter
        table = next((table for table in self.query(VTable) if table.share), None)
        if table is not None and carried != self._carried:
            self._carried = carried
            table.set_filter(carried, self._carried_terms(table))

    # The table's frame.

    def frame_tables(self, paused: bool) -> None:
        """Update all frames when the dashboard is paused or resumed."""
        if paused is not self._paused:
            self._paused = paused
            for table in self.query(VTable):
                self._frame(table)

    @on(VTable.Arranged)
    def _frame_table(self, event: VTable.Arranged) -> None:
        self._frame(event.table)

    def _frame(self, table: VTable[Any]) -> None:
        """Show filter, hidden rows and following in the table's frame, or in a line below its rows."""
        text = table.marks
        if self._paused and text.mood is Mood.FOLLOWING:  # it does not follow while the dashboard is paused
            text = replace(text, mood=Mood.LIVE)
        frame = table if table.styles.border_top[0] else table.parent
        if not isinstance(frame, Widget) or not table.display:
            return
        framed = bool(frame.styles.border_bottom[0])
        table.show_footer(text.runs() if text.needs_line and not framed else ())
        marks = text.content()
        if marks or table in self._framed:  # an empty frame may be written by its owner
            self._framed.add(table)
            entitle(frame, subtitle=marks)
        if table is self._prompt_for:
            self.query_one(Prompt).refresh_hint()

    # Order, columns, zoom.

    def action_sort(self) -> None:
        if table := self.active_table():
            from ktui.tui.dialogs.table_dialogs import SortScreen  # start-up time

            self.app.push_screen(SortScreen(table))

    def action_sort_turn(self) -> None:
        if (table := self.active_table()) and table.sort_by:
            column_id, descending = table.sort_by[0]
            table.sort(column_id, not descending)

    def action_follow(self) -> None:
        if table := self.active_table():
            table.action_follow()

    def action_columns(self) -> None:
        """Choose the table's columns, for this and later runs."""
        from ktui.tui.dialogs.table_dialogs import ColumnScreen  # start-up time

        table = self.active_table()
        if table is None:
            return
        kept, table_id = self.ktui.tables.columns, self.table_id(table)

        def keep(ids: tuple[str, ...]) -> None:
            if problem := kept.choose(table_id, ids):
                self.notify(problem, severity="warning")

        ColumnScreen(table, kept.preferred(table_id)).ask(self.app, keep)

    def action_zoom(self) -> None:
        """Show the focused panel alone, or all panels again."""
        zoomed, self._zoomed = self._zoomed, []
        for widget in zoomed:
            widget.display = True  # Textual does not notice when only the rule is cleared
            for rule in ("width", "height", "max_width", "max_height", "display"):
                widget.styles.inline.clear_rule(rule)
        self.refresh(layout=True)
        if zoomed:
            return
        box = next((each for each in self._around(self.focused) if each.has_class("box")), None)
        if box is None:
            self.notify("no panel has the focus")
            return
        for widget in (box, *self._around(box.parent)):
            widget.styles.width, widget.styles.height = "100%", "1fr"
            widget.styles.max_width = widget.styles.max_height = "100%"
            self._zoomed.append(widget)
            for sibling in widget.siblings:
                if sibling.display and isinstance(sibling, Widget):
                    sibling.styles.display = "none"
                    self._zoomed.append(sibling)

    def _around(self, widget: object) -> list[Widget]:
        """Return the widget and its ancestors below `content`, from the inside out."""
        found: list[Widget] = []
        while isinstance(widget, Widget) and widget.id != "content" and widget is not self:
            found.append(widget)
            widget = widget.parent
        return found

    # Showing, copying and exporting rows.

    def selected_object(self) -> tuple[str, Any] | None:
        """Return the title and the JSON value (or text) that `y` shows; None without a selection."""
        return None

    def action_show_object(self) -> None:
        selection = self.selected_object()
        if selection is None:
            self.notify("nothing selected")
        else:
            from ktui.tui.dialogs.text import TextScreen  # start-up time

            self.app.push_screen(TextScreen(*selection))

    def copies(self) -> Copies:
        """Return the texts that `c` copies in turn; the row's raw values come last."""
        table = self.active_table()
        if table is None or table.row is None:
            return ()
        row = ("the row's values", table.row_text)
        if not isinstance(table.row, RequestRow):
            return (("", table.main_text), row)
        server = self.ktui.server_url
        url = ("URL", f"{server}{table.row.target}")
        if table.row.started.verb not in READS:
            return (url, row)
        from ktui.core.snippets import read_as_curl  # start-up time

        return (url, ("curl", read_as_curl(table.row, server)), row)

    def action_copy(self) -> None:
        """Copy the first text of the selection; at once again, the next one."""
        forms = self.copies()
        if not forms:
            self.notify("nothing selected")
            return
        before, place = self._copied
        place = (place + 1) % len(forms) if before == forms[0] else 0
        self._copied = (forms[0], place)
        what, text = forms[place]
        self.app.copy_to_clipboard(text)
        following = forms[(place + 1) % len(forms)][0] or "the selection"
        more = f" · {key_of('copy')} again copies {following}" if len(forms) > 1 else ""
        named = f"{what}: " if what else ""
        self.notify(f"to the clipboard: {named}{shorten(safe(text), _SHOWN)}{more}")

    def action_export(self, form: Form = "csv") -> None:
        """Prompt for a file name and write all rows of the table to that file."""
        table = self.active_table()
        if table is None:
            return
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self.ktui.clock()))
        free = Path(f"ktui-{self.ktui.current_mode}-{stamp}.{form}")
        names = chain([free], (free.with_stem(f"{free.stem}-{number}") for number in range(2, 1000)))
        name = next((name for name in names if not name.exists()), free)  # no file is overwritten

        def entered(text: str) -> str:
            path = Path(text.strip()).expanduser()
            if not text.strip():
                return "a file needs a name"
            if path.exists():
                return f"{path} exists: another name, please"
            self.run_worker(self._export(table, path.absolute(), form), group="export")
            return ""

        hint = f"enter writes {many(len(table.rows), 'row')} · esc cancels"
        self.query_one(Prompt).open("export to ", str(name), hint=hint, entered=entered)

    async def _export(self, table: VTable[Any], path: Path, form: Form) -> None:
        """Write the rows and notify; missing rows are read first, and nothing is written if that fails."""
        from ktui.tui.table.paged_table import OnDemandTable  # start-up time

        try:
            read_all = table.read_all if isinstance(table, OnDemandTable) else None
            rows = list(table.rows if read_all is None else await read_all())
        except ClientError as error:
            self.notify(f"nothing written: not all rows could be read: {error}", severity="error")
            return
        text = await asyncio.to_thread(partial(_write, path, form, table.columns, rows))
        self.notify(text)


def _write(path: Path, form: Form, columns: Sequence[Column[Any]], rows: Sequence[Any]) -> str:
    """Write the rows to `path`. Return how many were written, or why none."""
    from ktui.core.table.export import text_of  # start-up time

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text_of(form, columns, rows))
    except OSError as error:
        return f"cannot write {path}: {error.strerror}"
    return f"{many(len(rows), 'row')} written to {path}"
