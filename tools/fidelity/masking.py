"""What differs between any two runs is masked alike in the recorded and in the new answer.

These are uids, times and revisions that are newer than the snapshot, and ages in Tables. Continue tokens are
decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tools.fidelity.values import decode_token

FUTURE = 99_999_999  # stands for a revision that does not exist yet
UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
OLDEST = re.compile(r"(too old resource version: \d+) \(\d+\)")
AGE_COLUMNS = frozenset(
    ("Age", "Last Seen", "First Seen", "Last Schedule", "Duration", "Created At", "CreatedAt")
)
SECONDS_LENGTH = len("2026-11-22T00:00:00")


class Masking:
    """Masks values. `made_at`: the snapshot's time; `uids`: those in it; `ages`: how ages in cells look."""

    def __init__(self, made_at: str, uids: Iterable[str], ages: re.Pattern[str]) -> None:
        self._made_at = made_at[:SECONDS_LENGTH]
        self._uids = frozenset(uids)
        self._ages = ages

    def value(self, value: Any, name: str = "") -> Any:
        """Mask a JSON value; `name` is that of the member which holds it."""
        if isinstance(value, dict):
            if value.get("kind") == "Table" and "rows" in value:
                value = self._without_ages(value)
            return {key: self.value(inside, key) for key, inside in value.items()}
        if isinstance(value, list):
            return [self.value(inside, name) for inside in value]
        return self._string(value, name) if isinstance(value, str) else value

    def revision(self, text: str) -> str:
        raise NotImplementedError

    def text(self, text: str, name: str = "") -> str:
        raise NotImplementedError

    def token_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def uid(self, found: re.Match[str]) -> str:
        return found.group(0) if found.group(0) in self._uids else "<uid>"

    def time(self, found: re.Match[str]) -> str:
        return found.group(0) if found.group(0)[:SECONDS_LENGTH] <= self._made_at else "<time>"

    def _string(self, text: str, name: str) -> Any:
        if name in ("resourceVersion", "RV"):
            return self.revision(text)
        if name == "continue" and text and (fields := decode_token(text)):
            return self.token_fields(fields)
        return self.text(text, name)

    def _without_ages(self, table: dict[str, Any]) -> dict[str, Any]:
        columns = table.get("columnDefinitions") or []
        aged = [isinstance(column, dict) and column.get("name") in AGE_COLUMNS for column in columns]
        rows = [_with_cells(row, lambda cells: self._cells(cells, aged)) for row in table["rows"] or []]
        return {**table, "rows": rows}

    def _cells(self, cells: list[Any], aged: list[bool]) -> list[Any]:
        """Later events of a WATCH have no columns: there an age is known by its looks."""
        found = []
        for index, cell in enumerate(cells):
            looks = isinstance(cell, str) and self._ages.fullmatch(cell) is not None
            found.append("<age>" if (aged[index] if index < len(aged) else looks) else cell)
        return found


def _with_cells(row: Any, changed: Callable[[list[Any]], list[Any]]) -> Any:
    if not isinstance(row, dict) or not isinstance(row.get("cells"), list):
        return row
    return {**row, "cells": changed(row["cells"])}
