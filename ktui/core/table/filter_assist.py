"""Completion and hints for a filter line while it is typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ktui.core.format import integer, many
from ktui.core.table.columns import Column
from ktui.core.table.filter import COMPARING, Fields, FilterError, Term, begun, find_field, names_of, terms_of

Row = TypeVar("Row")
SAMPLE = 2_000  # rows whose values are offered
NEWEST = 20  # rows checked for whether a column is numeric: some may have no value yet
OFFERED = 8  # columns or values
_OPEN = "a quote is not closed"
_NOTHING_TYPED = Term("", 0, False, "", "", "")


@dataclass(frozen=True, slots=True)
class FilterSuggestion:
    """A possible completion: `text` is the whole filter line, `label` the completed column or value."""

    text: str
    label: str
    about: str = ""
    more: bool = False  # a value has to follow


@dataclass(frozen=True, slots=True)
class Assist:
    """Help for the last term of a filter line: `hint` explains it, `suggestions` complete it."""

    hint: str
    suggestions: tuple[FilterSuggestion, ...] = ()

    @property
    def completion(self) -> str:
        return self.suggestions[0].text if self.suggestions else ""


def assist(text: str, fields: Fields[Row], rows: Sequence[Row]) -> Assist:
    """Return help for the term at the end of `text`, from the columns and the newest rows."""
    terms = terms_of(text)
    term = _NOTHING_TYPED if not terms or text[-1:].isspace() else terms[-1]
    if not term.text:
        return Assist(" ".join(fields))
    begin = text[: term.start] + ("!" if term.negated or term.text == "!" else "")
    if term.text == "!":
        return Assist("negates the next term: !route:E")
    if term.column:
        try:
            chosen = find_field(term.column, fields)
        except FilterError:
            return _columns(term.column, begin, fields, rows)
        return _values(term, begin, chosen, rows[-SAMPLE:])
    if term.unclosed:
        return Assist(_OPEN)
    if term.op:
        return Assist("in any column: a text, or /regular expression/")
    if term.value.endswith("!") and term.value[:-1].lower() in fields:
        return Assist("!= and what it is not")
    return _columns(term.value, begin, fields, rows)


def ignored_hint(term: Term, fields: Fields[Row]) -> str:
    """Say why a tentative term is ignored for now, and how to complete it."""
    if term.op == "~":
        return f"{term.text} matches no row: end it with / for a regular expression"
    names = names_of(fields)
    columns = dict.fromkeys(f"{names[name].id}:" for name in begun(term.value, names))
    return f"{term.text} matches no row; name a column: {' '.join([*columns][:OFFERED])}"


def _columns(word: str, begin: str, fields: Fields[Row], rows: Sequence[Row]) -> Assist:
    """Suggest columns whose name begins with `word`; a bare word searches all columns."""
    suggestions: list[FilterSuggestion] = []
    for each in fields.values() if word != "!" else ():
        names = (each.id, *each.aliases)
        if len(suggestions) < OFFERED and any(name.startswith(word.lower()) for name in names):
            label = each.id + (">" if _is_number(each, rows) else ":")
            suggestions.append(FilterSuggestion(begin + label, label, each.about, more=True))
    return Assist("in any column", tuple(suggestions))


def _is_number(chosen: Column[Row], rows: Sequence[Row]) -> bool:
    return any(isinstance(chosen.read(row), int | float) for row in rows[-NEWEST:])


def _values(term: Term, begin: str, chosen: Column[Row], rows: Sequence[Row]) -> Assist:
    if term.op in COMPARING or _is_number(chosen, rows):
        return Assist(_range(chosen, rows))
    if term.op == "~" and term.value.startswith("/"):
        return Assist("a regular expression between slashes")
    counted = _counted(chosen, rows, term.op)
    wanted = term.value.casefold()
    suggestions = [
        FilterSuggestion(f"{begin}{term.column}{term.op}{text}", value, many(count, "row"))
        for value, count in counted.items()
        for text in (f'"{value}"' if any(map(str.isspace, value)) else value,)
        if value.casefold().startswith(wanted)
    ]
    if term.unclosed:
        return Assist(_OPEN, tuple(suggestions[:OFFERED]))
    if not suggestions:
        return Assist(f"no value of {chosen.id} starts with this" if term.op != "~" else "")
    offered = suggestions[:OFFERED]
    more = f" … {len(suggestions) - OFFERED} more" if len(suggestions) > OFFERED else ""
    return Assist("  ".join(each.label for each in offered) + more, tuple(offered))


def _counted(chosen: Column[Row], rows: Sequence[Row], op: str) -> dict[str, int]:
    """Count the column's values, most frequent first; for a column with `known` values by first word."""
    counted = Counter(str(value) for value in map(chosen.read, rows) if value is not None)
    if not (op == ":" and chosen.known):
        return {value: count for value, count in counted.most_common() if value}
    found = dict.fromkeys(chosen.known, 0)
    for value, count in counted.items():
        word = value.partition(" ")[0]
        if word in found:
            found[word] += count
    return found


def _range(chosen: Column[Row], rows: Sequence[Row]) -> str:
    """Describe a numeric column: `0.02 to 204 ms here; write 10, 300ms, 2s`."""
    numbers: list[Any] = [value for value in map(chosen.read, rows) if isinstance(value, int | float)]
    unit = f" {chosen.unit}" if chosen.unit else ""
    example = {"s": "30s, 5m, 2h", "ms": "10, 300ms, 2s"}.get(chosen.unit, "10, 4k, 1.5M")
    if not numbers:
        return f"a number: {example}"
    return f"{_short(min(numbers))} to {_short(max(numbers))}{unit} here; write {example}"


def _short(value: float) -> str:
    return integer(int(value)) if value == int(value) else f"{value:,.2f}"
