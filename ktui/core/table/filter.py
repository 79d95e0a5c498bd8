"""The filter behind `/`: words, and conditions on columns.

`route:E ms>10 client~cilium pods` keeps rows whose route has a word that begins with E, that took more than
10 ms, whose client contains "cilium", and in which some column contains "pods". `!` before a term negates it;
quotes keep spaces together; `~/…/` is a regular expression.

Half a word must not empty a table. So while a filter is typed, an incomplete last term is not applied, and
one that can still become another term is ignored if no row matches it. `enter` applies the filter as it is.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ktui.core.table.columns import Column

Row = TypeVar("Row")

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
        return self.start + len(self.text)

    @property
    def regex(self) -> str | None:
        """The text between the slashes of `~/…/`."""
        value = self.value
        return value[1:-1] if self.op == "~" and len(value) > 2 and value[0] == value[-1] == "/" else None


def terms_of(text: str) -> tuple[Term, ...]:
    terms, place = [], 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        found = re.compile(_TERM).match(text, place)
        assert found is not None  # every part may be empty
        terms.append(_term(found, place))
        place = max(found.end(), place + 1)
    return tuple(terms)


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


Value = Callable[[Row], Any]
Test = Callable[[Row], bool]

_NUMBER = r"([-+]?[\d,]*\.?\d+)\s*([a-zA-Z]*)"
_NUMBERS = (int, float)
_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_TIMES = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SECONDS_A_UNIT = {"s": 1.0, "ms": 1e-3}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class FilterError(ValueError):
    """The filter is invalid; the message says what to write instead."""


def condition(term: Term, value: Value[Row], unit: str = "") -> Test[Row]:
    """Return the test for a term with a column. `unit` "s" or "ms" allows `age>5m`. Raises FilterError."""
    needle = term.value.casefold()
    if term.op in COMPARING:
        holds, limit = _COMPARE[term.op], number(term.column, term.value, unit)
        return lambda row: isinstance(seen := value(row), _NUMBERS) and holds(seen, limit)
    if term.op == "~":
        return anywhere(term, (value,))
    if term.op == ":":
        return lambda row: f" {needle}" in f" {_text(value(row))}".casefold()
    if term.op == "!=":
        return lambda row: _text(value(row)).casefold() != needle
    return lambda row: _text(value(row)).casefold() == needle


def anywhere(term: Term, values: Sequence[Value[Row]]) -> Test[Row]:
    """Return the test for a bare word or `~/…/`: any of the values contains it. Raises FilterError."""
    if (pattern := term.regex) is not None:
        from ktui.kube.golang.regexps import InvalidPattern, TextTooLong, matcher  # start-up time

        try:
            matches = matcher(pattern, ignore_case=True)
        except InvalidPattern as error:
            raise FilterError(f"{term.value} is not a regular expression: {error.reason}") from error

        def found(row: Row) -> bool:
            for value in values:
                try:
                    if matches(_text(value(row))):
                        return True
                except TextTooLong:
                    continue
            return False

        return found
    needle = term.value.casefold()
    if len(values) == 1:
        only = values[0]
        return lambda row: needle in _text(only(row)).casefold()
    return lambda row: any(needle in _text(value(row)).casefold() for value in values)


def _text(value: Any) -> str:
    return value if type(value) is str else "" if value is None else str(value)


def number(column: str, text: str, unit: str = "") -> float:
    """Parse `10`, `4k`, `1.5M`, `1.5MB`; with a `unit` of time also `300ms`, `5m`. Raises FilterError."""
    found = re.fullmatch(_NUMBER, text.strip().rstrip(".,"))  # "1." while 1.5 is being typed
    if found is not None:
        suffix = found[2].lower()
        if unit in _SECONDS_A_UNIT and suffix in _TIMES:
            factor: float | None = _TIMES[suffix] / _SECONDS_A_UNIT[unit]
        else:
            factor = _SCALES.get(suffix.removesuffix("b"))
        if factor is not None:
            return float(found[1].replace(",", "")) * factor
    example = "10, 300ms or 5m" if unit in _SECONDS_A_UNIT else "10, 4k or 1.5M"
    raise FilterError(f"{column} is compared with a number, such as {example}")


_BEGINS_A_NUMBER = r"[-+]?[.,]*"


def is_incomplete(term: Term, names: Mapping[str, Any]) -> bool:
    """True for `client:`, `ms>`, `ms>-`, `client:"kube`, `ms!` (before `ms!=`), and `!` or `~` alone.

    `names` are the names of the columns.
    """
    if term.unclosed or term.text in ("!", "~", "!~"):
        return True
    if term.op in COMPARING:
        return re.fullmatch(_BEGINS_A_NUMBER, term.value) is not None
    if not term.column:
        return term.value.endswith("!") and term.value[:-1].lower() in names
    return not term.value and term.text.endswith(term.op)  # client="" selects empty values


def may_become(term: Term, names: Mapping[str, Any]) -> bool:
    """True for a bare word that begins a column's name, and for an unclosed regular expression."""
    if term.op == "~":
        return term.value.startswith("/") and term.regex is None
    return not term.column and term.text.removeprefix("!") == term.value and bool(begun(term.value, names))


def begun(word: str, names: Mapping[str, Any]) -> list[str]:
    return [name for name in names if name.startswith(word.lower())] if word else []


Fields: TypeAlias = Mapping[str, Column[Row]]


def fields_of(columns: Sequence[Column[Any]]) -> dict[str, Column[Any]]:
    """Return a table's columns by their ids, as a filter finds them."""
    return {each.id: each for each in columns}


class Filter(Struct, Generic[Row], frozen=True):
    """A parsed filter; an empty one matches every row.

    `idle` terms are not applied: they are incomplete, or were carried over from another table and name
    columns that this one does not have. A filter with only idle terms is False: it hides nothing.
    The last term of a `tentative` filter is ignored if no row matches it.
    """

    text: str
    tests: tuple[Test[Row], ...] = ()
    terms: tuple[Term, ...] = ()
    idle: frozenset[str] = frozenset()  # their texts
    tentative: bool = False
    aside: Term | None = None  # the term that is ignored
    foreign: tuple[str, ...] = ()  # columns of carried terms that this table does not have

    def matches(self, row: Row) -> bool:
        return all(test(row) for test in self.tests)

    @property
    def test(self) -> Test[Row]:
        """`matches`, or the only test, which is faster."""
        return self.tests[0] if len(self.tests) == 1 else self.matches

    def __bool__(self) -> bool:
        return bool(self.tests)

    @property
    def otherwise(self) -> Filter[Row]:
        """The filter without its last term, for a tentative filter whose last term matches no row."""
        last = self.terms[-1]
        idle = self.idle | {last.text}
        return replace(self, tests=self.tests[:-1], idle=idle, tentative=False, aside=last)

    def narrows(self, other: Filter[Row]) -> bool:
        """True if this hides at least the rows that `other` hides: a term or letters were added."""
        mine = [term for term in self.terms if term.text not in self.idle]
        theirs = [term for term in other.terms if term.text not in other.idle]
        return bool(theirs) and all(any(_narrows(term, wider) for term in mine) for wider in theirs)


def _narrows(term: Term, wider: Term) -> bool:
    if term.text == wider.text:
        return True
    growing = term.op in ("", "~", ":") and term.regex is wider.regex is None
    same = (term.negated, term.column, term.op) == (wider.negated, wider.column, wider.op)
    return growing and same and not term.negated and term.value.casefold().startswith(wider.value.casefold())


def parse_filter(
    text: str, fields: Fields[Row], carried: Collection[str] = (), *, typing: bool = False
) -> Filter[Row]:
    """Parse `text` for a table with these fields. Raises FilterError.

    Terms among `carried` are idle instead of errors if their column is not among the fields or has
    another type here. While the user is `typing`, the last term may be idle or tentative too.
    """
    tests: list[Test[Row]] = []
    idle = set()
    foreign = []
    terms = terms_of(text)
    last = terms[-1] if typing and terms and terms[-1].end == len(text) else None
    names = names_of(fields) if last is not None else {}
    for term in terms:
        if term is last and is_incomplete(term, names):
            idle.add(term.text)
            continue
        try:
            tests.append(_test(term, fields))
        except FilterError as error:
            if term.text not in carried:
                raise
            idle.add(term.text)
            foreign += [term.column] if isinstance(error, UnknownColumnError) else []
    tentative = last is not None and last.text not in idle and may_become(last, names)
    kept = tuple(dict.fromkeys(foreign))
    return Filter(text.strip(), tuple(tests), terms, frozenset(idle), tentative, foreign=kept)


class UnknownColumnError(FilterError):
    """A term names a column that the table does not have."""

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        near = get_close_matches(name, fields, n=1, cutoff=0.5)
        meant = f", did you mean {near[0]}?" if near else ":"
        super().__init__(f"no column {name!r}{meant} {' '.join(fields)}")


def names_of(fields: Fields[Row]) -> dict[str, Column[Row]]:
    return {name: each for each in fields.values() for name in each.names}


def find_field(name: str, fields: Fields[Row]) -> Column[Row]:
    """Return the field with this id or, failing that, this name. Raises UnknownColumnError."""
    if name in fields:
        return fields[name]
    for each in fields.values():
        if name in each.names:
            return each
    raise UnknownColumnError(name, fields)


def _test(term: Term, fields: Fields[Row]) -> Test[Row]:
    if term.unclosed:
        raise FilterError("a quote is not closed")
    if term.op in (":", "~") and term.text.endswith(term.op):
        raise FilterError(f"{term.text} needs a value")
    if term.column:
        chosen = find_field(term.column, fields)
        test = condition(term, chosen.read, chosen.unit)
    else:
        test = anywhere(term, [each.read for each in fields.values()])
    if term.negated:
        return lambda row: not test(row)
    return test
