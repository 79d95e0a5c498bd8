"""The filter behind `/`: words, and conditions on columns.

`route:E ms>10 client~cilium pods` keeps rows whose route has a word that begins with
E, that took more than 10 ms, whose client contains "cilium", and in which some column contains
"pods". `!` before a term turns it round; quotes keep spaces together.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")
Value = Callable[[Row], Any]

_TERM = re.compile(r"(?P<column>[A-Za-z][\w-]*)(?P<op>>=|<=|!=|[:~=<>])(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"([-+]?[\d,]*\.?\d+)\s*([kKmMgGtT]?)[bB]?")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


class FilterError(ValueError):
    """The filter cannot be understood; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Filter(Generic[Row]):
    """A parsed filter: `matches(row)`; an empty one matches everything."""

    text: str
    tests: tuple[Callable[[Row], bool], ...] = ()

    def matches(self, row: Row) -> bool:
        return all(test(row) for test in self.tests)

    def __bool__(self) -> bool:
        return bool(self.tests)


def parse_filter(text: str, columns: Mapping[str, Value[Row]]) -> Filter[Row]:
    """Parse `text` for a table whose column ids map to values. Raises FilterError."""
    return Filter(text.strip(), tuple(_test(term, columns) for term in _split(text)))


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise FilterError("a quote is still open") from error


def _test(term: str, columns: Mapping[str, Value[Row]]) -> Callable[[Row], bool]:
    if term.startswith("!") and len(term) > 1:
        inner = _test(term[1:], columns)
        return lambda row: not inner(row)
    found = _TERM.fullmatch(term)
    if found is None:
        return _any_contains(term, columns)
    column = found["column"].lower()
    if column not in columns:
        raise FilterError(f"no column {column!r}: {' '.join(columns)}")
    return _condition(columns[column], column, found["op"], found["value"])


def _any_contains(word: str, columns: Mapping[str, Value[Row]]) -> Callable[[Row], bool]:
    needle = word.casefold()
    values = tuple(columns.values())
    return lambda row: any(needle in str(value(row)).casefold() for value in values)


def _condition(value: Value[Row], column: str, op: str, wanted: str) -> Callable[[Row], bool]:
    needle = wanted.casefold()
    if op in ("<", ">", "<=", ">="):
        return _compared(value, op, _number(column, wanted))
    if op == "~":
        return lambda row: needle in str(value(row)).casefold()
    if op == ":":
        return lambda row: f" {value(row)}".casefold().find(f" {needle}") >= 0
    if op == "!=":
        return lambda row: str(value(row)).casefold() != needle
    return lambda row: str(value(row)).casefold() == needle


def _compared(value: Value[Row], op: str, limit: float) -> Callable[[Row], bool]:
    def test(row: Row) -> bool:
        seen = value(row)
        if not isinstance(seen, int | float):
            return False
        return {"<": seen < limit, ">": seen > limit, "<=": seen <= limit, ">=": seen >= limit}[op]

    return test


def _number(column: str, text: str) -> float:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise FilterError(f"{column} is compared with a number, such as 10, 4k or 1.5M")
    return float(found[1].replace(",", "")) * _FACTORS[found[2].lower()]
