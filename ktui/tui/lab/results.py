"""The results as rows, and the one under the cursor taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container

from ktui.core.lab.result import LabResult
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.columns import ResultLine, columns, result_lines
from ktui.tui.lab.detail import detail_content, note
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel

FEW = 12  # results: up to this many get the lines that they need, more share the screen with the form
NOTHING_FIRED = "results show where an answer came from, what it cost, and whether that was predicted"


def empty_text() -> str:
    """What to do where nothing was sent yet."""
    send, compare, cheaper = key_of("lab.send"), key_of("lab.compare"), key_of("lab.cheaper")
    keys = f"{send} sends the LIST above, {compare} compares its variants, {cheaper} sends a cheaper one"
    return f"{keys}; tab or {key_of('lab.edit')} goes to the form"


class ResultsPane(Container):
    """One row a request that was sent."""

    def __init__(self) -> None:
        super().__init__(id="results-box", classes="box")

    def compose(self) -> ComposeResult:
        yield VTable[ResultLine](
            columns(80), key=lambda row: row.result.number, id="results", empty=empty_text(), follow=True
        )

    @property
    def table(self) -> VTable[ResultLine]:
        return self.query_one("#results", VTable)

    @property
    def result(self) -> LabResult | None:
        """The one under the cursor."""
        row = self.table.row if self.is_mounted else None
        return row.result if row is not None else None

    def fit(self, width: int) -> None:
        """The columns for a screen so wide."""
        self.table.set_columns(columns(width))

    def show(self, results: Sequence[LabResult], streamed: int) -> None:
        """`streamed`: bytes that have come of the one that is under way."""
        self.table.set_rows(result_lines(tuple(results), streamed))

    def give_room(self, count: int) -> None:
        """What few results leave goes to the walk of what is predicted."""
        few = count <= FEW and self.screen.has_class("-tall")
        self.screen.set_class(few, "-few")
        self.styles.height = max(6, count + 3) if few else None

    def entitle(self, count: int, gist: str) -> None:
        subtitle = (f"  {gist}" if gist else "", "$ink-muted")
        title = line(f"results · {count}" if count else "results", subtitle)
        self.border_title = title.truncate(max(9, self.screen.size.width - 4), ellipsis=True)


class ResultDetail(Panel):
    """The result under the cursor; in a short terminal there is no room for it."""

    def __init__(self) -> None:
        super().__init__("selected", id="detail", classes="box")

    def take_apart(self, result: LabResult | None) -> str:
        """Show it; its gist, where that cannot be seen."""
        if result is None:
            self.show(lambda width, _: line((NOTHING_FIRED, "$ink-muted")), ())
            return ""
        self.border_title = line(f"#{result.number} {result.label}")
        self.show(lambda width, height: detail_content(result, width, height), (id(result),))
        return "" if self.display else note(result)
