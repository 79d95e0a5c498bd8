"""Export the rows of a table: CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from ktui.core.format import safe
from ktui.core.table.columns import Column

Form: TypeAlias = Literal["csv", "json"]
# A spreadsheet treats text that begins so as a formula, and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def text_of(form: Form, columns: Sequence[Column[Any]], rows: Iterable[Any]) -> str:
    """Return all columns, including hidden ones, of the rows as CSV or JSON.

    JSON is an array of objects by column id: raw numbers, text as it was received.
    """
    if form == "csv":
        return csv_text(columns, rows)
    lines = [msgspec.json.encode({column.id: _plain(column.read(row)) for column in columns}) for row in rows]
    return "[\n" + b",\n".join(lines).decode() + "\n]\n" if lines else "[]\n"


def csv_text(columns: Sequence[Column[Any]], rows: Iterable[Any]) -> str:
    """Return the rows as CSV: raw numbers; text made safe, with an apostrophe before a possible formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.id for column in columns])
    writer.writerows([csv_cell(column.read(row)) for column in columns] for row in rows)
    return out.getvalue()


def csv_cell(value: Any) -> Any:
    """Return a value for CSV: text is neither a formula nor has control characters."""
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value)
    return f"'{safe(text)}" if text.startswith(_FORMULA) else safe(text)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else str(value)
