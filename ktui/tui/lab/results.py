"""The table of results, and the panel about the selected one."""

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

FEW = 12  # results: up to this many the table is as high as they are; more share the screen with the form
NOTHING_SENT = "results show where an answer came from, what it cost, and whether that was predicted"


def empty_text() -> str:
    """Return which keys send a request."""
    send, compare, cheaper = key_of("lab.send"), key_of("lab.compare"), key_of("lab.cheaper")
    keys = f"{send} sends the LIST above, {compare} compares its variants, {cheaper} sends a cheaper one"
    return f"{keys}; tab or {key_of('lab.edit')} goes to the form"


class ResultsPane(Container):
    """A table with one row per request sent."""

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
        """The result under the cursor."""
        row = self.table.row if self.is_mounted else None
        return row.result if row is not None else None

    def fit(self, width: int) -> None:
        """Set the columns for a screen of `width` cells."""
        self.table.set_columns(columns(width))

    def show(self, results: Sequence[LabResult], streamed: int) -> None:
        """Show the results; `streamed` is the number of bytes received of the running request."""
        self.table.set_rows(result_lines(tuple(results), streamed))

    def give_room(self, count: int) -> None:
        """With few results, leave height to the prediction."""
        few = count <= FEW and self.screen.has_class("-tall")
        self.screen.set_class(few, "-few")
        self.styles.height = max(6, count + 3) if few else None

    def entitle(self, count: int, gist: str) -> None:
        subtitle = (f"  {gist}" if gist else "", "$ink-muted")
        title = line(f"results · {count}" if count else "results", subtitle)
        self.border_title = title.truncate(max(9, self.screen.size.width - 4), ellipsis=True)


class ResultDetail(Panel):
    """Details of the result under the cursor; hidden in a short terminal."""

    def __init__(self) -> None:
        super().__init__("selected", id="detail", classes="box")

    def show_result(self, result: LabResult | None) -> str:
        """Show a result. Return its main fact if the panel is hidden, else ""."""
        if result is None:
            self.show(lambda width, _: line((NOTHING_SENT, "$ink-muted")), ())
            return ""
        self.border_title = line(f"#{result.number} {result.label}")
        self.show(lambda width, height: detail_content(result, width, height), (id(result),))
        return "" if self.display else note(result)
