"""The Versions screen: the selected request under each version from Kubernetes 1.19 on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.content import Content

from ktui.contract.events import RouteStep
from ktui.core.format import many
from ktui.core.ranking.remedy import Alternative
from ktui.core.references import EXAMPLE, Crumb, Part, Place, Read, Reference, Selection, read_selection
from ktui.core.rows import ERROR, Badge, badge_of_route
from ktui.core.state import State
from ktui.core.table.columns import NOTHING, Cell, Column
from ktui.kube.flow_schemas import PriorityLevel
from ktui.kube.routing import sentences
from ktui.kube.routing.request import RequestError
from ktui.kube.seats import SeatRange, levels_cap_seats
from ktui.tui.keys.hints import key_of
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.requests.why import INDENT, badged_lines, headed_steps
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.versions.minor_rows import Matrix, VersionRow, cause_sentences, causes_text, matrix_of
from ktui.tui.widgets.lines import between, entitle, figure, line, lines, pad, parts_that_fit, wrapped
from ktui.tui.widgets.panel import HorizontalArea, Panel, VerticalArea

NEW, SAME = "bold $accent", "$ink-muted"


def badge(row: VersionRow) -> Badge:
    """Return the badge of an error if the version refuses the request, else of its route."""
    plan = row.under.plan
    return ERROR if plan.error is not None else badge_of_route(plan.source.value)


def _style(row: VersionRow, *aspects: str) -> str:
    if row.first:
        return "$foreground"
    return NEW if row.changed(*aspects) else SAME


def _version(row: VersionRow) -> Cell:
    style = "bold $ink-strong" if row.first or row.under.changed else SAME
    return ((row.versions, style), (" ◂", "bold $rv-cache") if row.current else ("", ""))


def _route(row: VersionRow) -> Cell:
    item = badge(row)
    error = row.under.outcome.error
    word = f"{error} {item.word}" if error is not None else item.word
    return (word, item.style if row.first or row.changed("route", "error") else SAME)


def _limit(row: VersionRow) -> Cell:
    honoured = row.under.outcome.limit
    if honoured is None:
        return NOTHING
    return ("honoured" if honoured else "ignored", _style(row, "limit"))


def _wait(row: VersionRow) -> Cell:
    plan = row.under.plan
    faint = not any(plan.wait) and not row.changed("wait")
    return (sentences.short_wait(plan), "$ink-faint" if faint else _style(row, "wait"))


def seats_text(seats: SeatRange) -> str:
    if not seats.max:
        return "·"
    return f"{seats.min}" if seats.min == seats.max else f"{seats.min}–{seats.max}"


def _rule(row: VersionRow) -> str:
    return sentences.reason(row.under.plan)


_VERSIONS: tuple[Column[VersionRow], ...] = (
    Column("version", "version", _version, lambda row: row.under.behaviour.minor, width=7, priority=0,
           about="Kubernetes versions that decide the same; ◂ the current one"),
    Column("badge", "", lambda row: badge(row).run, width=1, priority=0,
           about="C cache, S snapshot, E etcd, ! refused"),
    Column("route", "route", _route, width=14, priority=5, about="where the answer comes from"),
    Column("reason", "reason", lambda row: (row.under.plan.reason_id, _style(row, "reason")), width=15,
           priority=2, about="id of the rule that decides"),
    Column("consistency", "consistency",
           lambda row: (text.replace("_", " "), _style(row, "consistency"))
           if (text := row.under.outcome.consistency) else NOTHING, width=12,
           about="consistency of the answer"),
    Column("limit", "limit", _limit, width=8, priority=3, about="whether limit is honoured"),
    Column("wait", "wait", _wait, width=6, about="how long it may wait for the cache"),
    figure("seats", "seats", lambda row: row.under.outcome.seats.max,
           "seats of API Priority and Fairness, minimum and maximum",
           cell=lambda row: (seats_text(row.under.outcome.seats), _style(row, "seats"))),
    Column("changed", "changed by", lambda row: (causes_text(row), "$foreground"), width=16, flex=2,
           priority=0, wish=24, about="the gate or release that changed it"),
    Column("why", "why",  # only where it changed: repeated on each line it would hide that
           lambda row: (_rule(row), "$foreground") if row.first or row.changed("reason") else NOTHING,
           _rule, width=50, flex=3, priority=8, copied=_rule, about="the rule in a sentence"),
)  # fmt: skip


def columns(*, grouped: bool, limits: bool) -> tuple[Column[VersionRow], ...]:
    """Return the columns; `limits` adds that on limit, `grouped` makes room for several versions in a row."""
    chosen = (column for column in _VERSIONS if limits or column.id != "limit")
    return tuple(
        replace(column, width=13) if grouped and column.id == "version" else column for column in chosen
    )


def request_content(selection: Selection, matrix: Matrix, width: int, height: int) -> Content:
    """Return the request, and below it, if the height allows, what is assumed."""
    key = (key_of("versions.edit"), "bold $accent")
    taken = line((f"{selection.taken_from}  ", "$ink-muted"), key, (" edits the request", "$ink-muted"))
    request = line((f"{selection.verb} ", "$ink-muted"), (unquote(selection.target), "bold $ink-strong"))
    below = line((f"predicted by the rules of each version, {matrix.cache}", "$ink-muted"))
    if matrix.problem:
        below = line((matrix.problem, "$route-error"))
    return lines([between(request, taken, width), below][:height])


def trace_content(row: VersionRow | None, level: PriorityLevel | None, width: int, height: int) -> Content:
    """Return the route, guarantees and causes of a change, then each predicate with its value."""
    if row is None:
        return line(("select a version to see its decision trace", "$ink-muted"))
    plan, error = row.under.plan, row.under.plan.error
    word = f"{error.code} {error.reason}" if error is not None else badge(row).word
    text = error.message if error is not None else _rule(row)
    above = badged_lines(badge(row), word, text, width, 3)
    parts = sentences.guarantees(plan, _seats_panel(row, level))
    above.append(parts_that_fit(parts, width, "$ink-strong", indent=" " * INDENT))
    changed = (f"  {row.version} changed by ", "$ink-muted")
    above += [line(changed, (text, "$foreground")) for text in cause_sentences(row)]
    steps = sentences.trace(plan, RouteStep)
    return lines([*above, *headed_steps(steps, width, height - len(above))][:height])


def _seats_panel(row: VersionRow, level: PriorityLevel | None) -> str:
    seats = row.under.outcome.seats
    if not seats.max:
        return "no seats: no flow control"
    text = f"{seats_text(seats)} seat{'' if seats.max == 1 else 's'}"
    if level is not None:
        return f"{text} at {level.name}"
    capped = levels_cap_seats(row.under.behaviour) and seats.max > 1
    return f"{text}, the limit of its priority level is not known" if capped else text


_VERSION_CELLS = 6


def changes_content(rows: Sequence[VersionRow], _width: int, height: int) -> Content:
    """Return each version that changed something, its causes, and what they changed."""
    if not rows:
        return Content("")
    causes = [(row.version, text) for row in rows for text in cause_sentences(row)]
    if not causes:
        return line((f"{rows[0].version} to {rows[-1].version} answer it the same way", "$ink-muted"))
    return lines(
        line((pad(version, _VERSION_CELLS), "bold $ink-strong"), (text, "$foreground"))
        for version, text in causes[:height]
    )


def cheaper_content(found: Iterable[Alternative], width: int, height: int) -> Content:
    blocks = []
    for item in found:
        route = badge_of_route(item.route)
        head = line(
            ("→ ", f"bold {item.style}"), (item.change or "cheaper variants", "bold $ink-strong"), "  ",
            (f"{route.letter} ", route.style), (route.word, "$ink-muted"),
        )  # fmt: skip
        blocks.append([head, *wrapped(item.why, width, "$ink-muted", indent="  ")])
    if not blocks:
        return line(("no cheaper variant is known under this version", "$ink-muted"))
    apart = sum(map(len, blocks)) + len(blocks) - 1 <= height
    drawn: list[Content] = []
    for block in blocks:
        drawn += [line(""), *block] if drawn and apart else block
    return lines(drawn[:height])


GROUPED = Part("grouped")
HINT = "PATH?QUERY, watch PATH, a resource"


class VersionsScreen(ModeScreen, mode="versions"):
    """One row per version; enter groups equal ones, which leaves more room to the decision trace."""

    AUTO_FOCUS = "#versions"

    def __init__(self) -> None:
        super().__init__()
        of = columns(grouped=False, limits=True)
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
            partial(request_content, selection, matrix), (selection, matrix.cache, matrix.problem)
        )
        walk, under = self.query_one("#walk", Panel), f" under {row.versions}" if row is not None else ""
        entitle(walk, line(f"decision trace{under}"))
        walk.show(partial(trace_content, row, matrix.level), (row,))
        if not self.query_one("#beside").display:
            return
        # Panels that only a wide terminal shows.
        self.query_one("#changes", Panel).show(partial(changes_content, matrix.rows), matrix.rows)
        panel, found = self.query_one("#cheaper", Panel), matrix.cheaper(row) if row is not None else ()
        entitle(panel, line(f"cheaper{under}"))
        panel.show(partial(cheaper_content, found), found)

    @on(VTable.Highlighted, "#versions")
    def _highlighted(self) -> None:
        self.paint_panels(self.ktui.state)

    @property
    def _grouped(self) -> bool:
        return self.has_class("-deep")

    def _show_rows(self) -> None:
        matrix = self._matrix
        rows = matrix.groups if self._grouped else matrix.rows
        self.table.set_columns(columns(grouped=self._grouped, limits=matrix.limits))
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
