"""The test of a row for one term of a filter."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from ktui.kube.golang.regexps import Matcher

COMPARING = ("<", ">", "<=", ">=")
# Compiled with the first filter: `re` keeps it.
_TERM = r"""(?x)(?P<not>!?)
        (?:(?P<column>[A-Za-z][\w-]*)(?P<op>>=|<=|!=|[:~=<>])|(?P<any>~))?
        (?P<value>"[^"]*"?|'[^']*'?|\S*)"""


class Term(Struct, frozen=True):
    """`!client~cil`: negated, column "client", op "~", value "cil". A bare word has neither column nor op."""

    text: str
    start: int  # where it begins in the filter
    negated: bool
    column: str
    op: str
    value: str
    unclosed: bool = False  # a quote is not closed yet

    @property
    def end(self) -> int:
        """Where it ends in the filter."""
        return self.start + len(self.text)

    @property
    def regex(self) -> str | None:
        """The text between the slashes of `~/…/`."""
        value = self.value
        return value[1:-1] if self.op == "~" and len(value) > 2 and value[0] == value[-1] == "/" else None


def terms_of(text: str) -> tuple[Term, ...]:
    """Return the terms of a filter, in their order."""
    terms = []
    place = _space(text, 0)
    while place < len(text):
        found = re.compile(_TERM).match(text, place)
        assert found is not None  # every part may be empty
        terms.append(_term(found, place))
        place = _space(text, max(found.end(), place + 1))
    return tuple(terms)


def _space(text: str, place: int) -> int:
    """Return the place of the first character from `place` on that is not white space."""
    return len(text) - len(text[place:].lstrip())


def _term(found: re.Match[str], start: int) -> Term:
    raw = found["value"]
    quote = raw[:1] if raw[:1] in ("'", '"') else ""
    unclosed = bool(quote) and not (len(raw) > 1 and raw.endswith(quote))
    value = raw[1:] if unclosed else raw[1:-1] if quote else raw
    op = found["op"] or found["any"] or ""
    negated = bool(found["not"]) and bool(value or op)
    if found["not"] and not negated:
        value = "!"
    return Term(found[0], start, negated, (found["column"] or "").lower(), op, value, unclosed)


Row = TypeVar("Row")
Value = Callable[[Row], Any]
Test = Callable[[Row], bool]

_NUMBER = r"([-+]?[\d,]*\.?\d+)\s*([a-zA-Z]*)"
_NUMBERS = (int, float)
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_TIMES = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SECONDS_A_UNIT = {"s": 1.0, "ms": 1e-3}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


class FilterError(ValueError):
    """The filter is invalid; the message says what to write instead."""


def condition(term: Term, value: Value[Row], unit: str = "") -> Test[Row]:
    """Return the test for a term with a column. `unit` "s" or "ms" allows `age>5m`. Raises FilterError."""
    needle = term.value.casefold()
    if term.op in COMPARING:
        return _compared(value, _COMPARE[term.op], number(term.column, term.value, unit))
    if term.op == "~":
        return _contains((value,), term)
    if term.op == ":":
        return lambda row: f" {needle}" in f" {_text(value(row))}".casefold()
    if term.op == "!=":
        return lambda row: _text(value(row)).casefold() != needle
    return lambda row: _text(value(row)).casefold() == needle


def anywhere(term: Term, values: Sequence[Value[Row]]) -> Test[Row]:
    """Return the test for a bare word or `~/…/`: any of the values contains it. Raises FilterError."""
    return _contains(tuple(values), term)


def _contains(values: tuple[Value[Row], ...], term: Term) -> Test[Row]:
    if (pattern := term.regex) is not None:
        from ktui.kube.golang.regexps import InvalidPattern, matcher  # start-up time

        try:
            matches = matcher(pattern, ignore_case=True)
        except InvalidPattern as error:
            raise FilterError(f"{term.value} is not a regular expression: {error.reason}") from error
        return lambda row: any(_matches(matches, _text(value(row))) for value in values)
    needle = term.value.casefold()
    if len(values) == 1:
        only = values[0]
        return lambda row: needle in _text(only(row)).casefold()
    return lambda row: any(needle in _text(value(row)).casefold() for value in values)


def _matches(matches: Matcher, text: str) -> bool:
    from ktui.kube.golang.regexps import TextTooLong  # start-up time

    try:
        return matches(text)
    except TextTooLong:
        return False


def _text(value: Any) -> str:
    """Return a value as text; None is the empty text."""
    return value if type(value) is str else "" if value is None else str(value)


def _compared(value: Value[Row], holds: Callable[[Any, Any], bool], limit: float) -> Test[Row]:
    def test(row: Row) -> bool:
        seen = value(row)
        return isinstance(seen, _NUMBERS) and holds(seen, limit)

    return test


def number(column: str, text: str, unit: str = "") -> float:
    """Parse `10`, `4k`, `1.5M`, `1.5MB`; with a `unit` of time also `300ms`, `5m`. Raises FilterError."""
    found = re.fullmatch(_NUMBER, text.strip().rstrip(".,"))  # "1." while 1.5 is being typed
    if found is not None:
        suffix = found[2].lower()
        factor = _TIMES.get(suffix) if unit in _SECONDS_A_UNIT else None
        if factor is not None:
            factor /= _SECONDS_A_UNIT[unit]
        else:
            factor = _SCALES.get(suffix.removesuffix("b"))
        if factor is not None:
            return float(found[1].replace(",", "")) * factor
    example = "10, 300ms or 5m" if unit in _SECONDS_A_UNIT else "10, 4k or 1.5M"
    raise FilterError(f"{column} is compared with a number, such as {example}")
