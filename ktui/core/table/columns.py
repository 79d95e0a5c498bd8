"""The columns of a table, and how they share its width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

Row = TypeVar("Row")

Run: TypeAlias = tuple[str, str]  # text, style such as "bold $route-cache"
Cell: TypeAlias = str | Run | Sequence[Run]

NOTHING: Run = ("·", "$ink-faint")  # for a missing or insignificant value

GAP = 1  # cells between two columns
UNITS = {"B": "bytes, k = 1000", "ms": "milliseconds", "s": "seconds", "rv": "resourceVersion"}
LUXURY = 5  # columns of this priority and above must leave the others their preferred width


class Column(Struct, Generic[Row], frozen=True):
    """One column: the cell of a row, and the value that it is sorted and filtered by.

    `width` is the minimal width in cells; `flex` is the column's share of
    the remaining width. If not all columns fit, the greatest `priority` is dropped first.
    `most` bounds the width of a flexible column (0: unbounded). `value` defaults
    to the shown text. `descending` is the first direction of a sort. A `hidden`
    column is for filters only. `wish` is the width that the column has to reach before
    columns of priority LUXURY and above are shown.

    `about` describes it in one sentence, with its source; `unit` is that of the value
    ("B", "ms", "s" …). `known` are values that a filter offers even if no row has them yet.
    `copied` returns the text to copy if it differs from the shown text. `aliases` are other names in
    filters: the names of the same figure in other tables. `tail`: long text is shortened in the
    middle, because its end distinguishes rows.
    """

    id: str
    title: str
    cell: Callable[[Row], Cell]
    value: Callable[[Row], Any] | None = None
    width: int = 8
    flex: int = 0
    align: Literal["left", "right"] = "left"
    priority: int = 1
    descending: bool = False
    most: int = 0
    hidden: bool = False
    wish: int = 0
    about: str = ""
    unit: str = ""
    known: tuple[str, ...] = ()
    copied: Callable[[Row], str] | None = None
    aliases: tuple[str, ...] = ()
    tail: bool = False

    @property
    def read(self) -> Callable[[Row], Any]:
        """The function from a row to the value that it is sorted and filtered by."""
        return self.value or (lambda row: plain(self.cell(row)))

    @property
    def names(self) -> tuple[str, ...]:
        """All names in filters: the id, the title in the header, the aliases."""
        return tuple(name for name in (self.id, self.title.lower(), *self.aliases) if name)

    @property
    def meaning(self) -> str:
        """Its description with the unit."""
        unit = UNITS.get(self.unit, self.unit)
        return f"{self.about} ({unit})" if self.about and unit else self.about or unit

    @property
    def tooltip(self) -> str:
        """The description of the column, shown when the mouse is over its heading."""
        return f"{self.id}: {self.meaning}" if self.meaning else self.id


def plain(cell: Cell) -> str:
    return "".join(text for text, _ in runs(cell))


def runs(cell: Cell) -> Sequence[Run]:
    """A cell as styled runs."""
    if isinstance(cell, str):
        return ((cell, ""),)
    if isinstance(cell, tuple) and len(cell) == 2 and isinstance(cell[0], str):
        return ((cell[0], str(cell[1])),)
    return cell


class Fitted(Struct, Generic[Row], frozen=True):
    column: Column[Row]
    width: int


def fit(columns: Sequence[Column[Row]], width: int) -> tuple[Fitted[Row], ...]:
    """The columns that fit into `width` cells, in their order, with their widths."""
    kept = [column for column in columns if not column.hidden]
    while len(kept) > 1:
        worst = max(reversed(kept), key=lambda column: column.priority)
        if _needed(kept, wished=worst.priority >= LUXURY) <= width:
            break
        kept.remove(worst)
    spare = max(0, width - _needed(kept))
    shares = sum(column.flex for column in kept)
    # Bounded columns first: the others share what is left.
    widths: dict[str, int] = {}
    for column in sorted(kept, key=lambda column: not column.most):
        extra = spare * column.flex // shares if column.flex else 0
        if column.most:
            extra = min(extra, column.most - column.width)
        spare, shares = spare - extra, shares - column.flex
        widths[column.id] = min(column.width + extra, width)
    return tuple(Fitted(column, widths[column.id]) for column in kept)


def _needed(columns: Sequence[Column[Row]], *, wished: bool = False) -> int:
    widths = (max(column.width, column.wish) if wished else column.width for column in columns)
    return sum(widths) + GAP * (len(columns) - 1)
