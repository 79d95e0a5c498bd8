"""The Versions screen: the selected request under each version from Kubernetes 1.19 on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from textual import on
from textual.app import ComposeResult

from ktui.core.format import many
from ktui.core.references import EXAMPLE, Crumb, Part, Place, Read, Reference, Selection, read_selection
from ktui.core.state import State
from ktui.kube.routing.request import RequestError
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.versions import version_panels as panels
from ktui.tui.versions.minor_rows import Matrix, VersionRow, matrix_of
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import HorizontalArea, Panel, VerticalArea

GROUPED = Part("grouped")
HINT = "PATH?QUERY, watch PATH, a resource"


class VersionsScreen(ModeScreen, mode="versions"):
    """One row per version; enter groups equal ones, which leaves more room to the decision trace."""

    AUTO_FOCUS = "#versions"

    def __init__(self) -> None:
        super().__init__()
        of = panels.columns(grouped=False, limits=True)
        self.table = VTable(of, key=lambda row: row.version, id="versions", classes="box", empty="")
        self._matrix = Matrix()
        self._typing: Selection | None = None

    def compose_body(self) -> ComposeResult:
        yield Panel("request", id="request", classes="box")
        yield self.table
        with HorizontalArea(id="under"):
            yield Panel("decision trace", id="walk", classes="box")
            with VerticalArea(id="beside"):
                yield Panel("what changed", id="changes", classes="box")
                yield Panel("cheaper", id="cheaper", classes="box")

    @property
    def selection(self) -> Selection:
        """The request being typed, or else the one selected on another screen."""
        return self._typing or self.ktui.selection or EXAMPLE

    def crumbs(self) -> Sequence[Crumb]:
        return (Crumb(GROUPED.name, Place(self.MODE, GROUPED)),) if self._grouped else ()

    def visit(self, reference: Reference | None) -> None:
        """Show the groups or all versions; the request itself is the app's selection."""
        row = self.table.row
        if row is not None and self._grouped is not (reference == GROUPED):
            self._set_grouped(row, grouped=reference == GROUPED)

    def references(self) -> Sequence[Reference]:
        return (Read(self.selection),)

    def selected_request(self) -> Selection | None:
        return None  # it is the app's selection already

    # Painting.

    def paint_tables(self, state: State) -> None:
        """Compute the rows again if the request, the server or a cache has changed."""
        selection = self.selection
        if not self.table.outdated(selection, state.server, state.touched.caches, state.touched.prefixes):
            return
        fresh = not self._matrix.rows
        self._matrix = matrix = matrix_of(selection, state)
        self.table.empty = matrix.problem
        self._show_rows()
        if fresh:
            self._go_to(lambda row: row.current)
        span = "versions"
        if rows := matrix.rows:
            span = f"{rows[0].version} to {rows[-1].version} · {many(matrix.changes, 'change')}"
        entitle(self.table, line(span))

    def paint_panels(self, state: State) -> None:
        selection, matrix, row = self.selection, self._matrix, self.table.row
        self.query_one("#request", Panel).show(
            partial(panels.request_content, selection, matrix), (selection, matrix.cache, matrix.problem)
        )
        walk, under = self.query_one("#walk", Panel), f" under {row.versions}" if row is not None else ""
        entitle(walk, line(f"decision trace{under}"))
        walk.show(partial(panels.trace_content, row, matrix.level), (row,))
        if not self.query_one("#beside").display:
            return
        # Panels that only a wide terminal shows.
        self.query_one("#changes", Panel).show(partial(panels.changes_content, matrix.rows), matrix.rows)
        panel, found = self.query_one("#cheaper", Panel), matrix.cheaper(row) if row is not None else ()
        entitle(panel, line(f"cheaper{under}"))
        panel.show(partial(panels.cheaper_content, found), found)

    @on(VTable.Highlighted, "#versions")
    def _highlighted(self) -> None:
        self.paint_panels(self.ktui.state)

    @property
    def _grouped(self) -> bool:
        return self.has_class("-deep")

    def _show_rows(self) -> None:
        matrix = self._matrix
        rows = matrix.groups if self._grouped else matrix.rows
        self.table.set_columns(panels.columns(grouped=self._grouped, limits=matrix.limits))
        self.table.set_rows(rows)
        # As high as the groups, up to half of a small screen.
        self.table.styles.height = (
            min(len(rows) + (2 if self.has_class("-narrow") else 3), 11) if self._grouped else None
        )

    def _go_to(self, wanted: Callable[[VersionRow], bool]) -> None:
        index = next((at for at, row in enumerate(self.table.rows) if wanted(row)), len(self.table.rows) - 1)
        self.table.move_to(index)

    # Grouping.

    @on(VTable.Selected, "#versions")
    def _selected(self, event: VTable.Selected) -> None:
        if not self._grouped:
            self._set_grouped(event.row, grouped=True)

    def action_leave(self) -> None:
        row = self.table.row
        if self._grouped and row is not None:
            self._set_grouped(row, grouped=False)

    def _set_grouped(self, row: VersionRow, *, grouped: bool) -> None:
        minor = row.under.behaviour.minor
        self.set_class(grouped, "-deep")
        self._show_rows()
        self._go_to(lambda item: item.covers(minor))
        self.refresh_bindings()
        self.paint_panels(self.ktui.state)
        self.moved()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "leave":
            return self._grouped
        return super().check_action(action, parameters)

    # Another request.

    def action_edit(self) -> None:
        """Open the prompt for a request; the table follows each valid text."""

        def typed(text: str) -> str:
            try:
                self._typing = read_selection(text)
            except RequestError as error:
                return str(error)
            self.paint()
            return ""

        def entered(text: str) -> str:
            problem = typed(text)
            if not problem:
                self.ktui.selection = self._typing
            return problem

        self.query_one(Prompt).open("›", self.selection.text, hint=HINT, typed=typed, entered=entered)

    @on(Prompt.Closed)
    def _typed_out(self) -> None:
        self._typing = None
        self.paint()

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.table.row
        if row is None:
            return None
        return f"{self.selection.text} under {row.version}", self._matrix.document(row)
