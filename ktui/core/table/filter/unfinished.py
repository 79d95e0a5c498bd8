"""The last term of a filter while it is typed: whether it is complete, and what it may become.

Half a word must not empty a table. So an incomplete term is not applied, and one that may
still become something else is ignored if no row matches it; `enter` applies both as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ktui.core.table.filter.terms import COMPARING, Term

_BEGINS_A_NUMBER = re.compile(r"[-+]?[.,]*")


def says_nothing(term: Term, names: Mapping[str, Any]) -> bool:
    """`client:`, `ms>`, `ms>-`, `client:"kube`, `ms!` on its way to `ms!=`, `!` and `~` alone.

    `names` are those of the columns.
    """
    if term.unclosed or term.text in ("!", "~", "!~"):
        return True
    if term.op in COMPARING:
        return _BEGINS_A_NUMBER.fullmatch(term.value) is not None
    if not term.column:
        return term.value.endswith("!") and term.value[:-1].lower() in names
    return not term.value and term.text.endswith(term.op)  # client="" selects empty values


def may_become(term: Term, names: Mapping[str, Any]) -> bool:
    """A bare word that begins a column's name, or a `/` whose regular expression is not closed."""
    if term.op == "~":
        return term.value.startswith("/") and term.regex is None
    return not term.column and term.text.removeprefix("!") == term.value and bool(begun(term.value, names))


def begun(word: str, names: Mapping[str, Any]) -> list[str]:
    """The columns whose names begin with the word."""
    return [name for name in names if name.startswith(word.lower())] if word else []
