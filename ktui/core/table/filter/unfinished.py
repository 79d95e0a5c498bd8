"""The term at the end of the line while it is typed: what it says yet, and what it may become.

A table must not be emptied by half a word. So a term that says nothing yet waits, and what may
still become something else is set aside where no row has it; `enter` takes both as they stand.
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
    return not term.value and term.text.endswith(term.op)  # client="" asks for the empty ones


def may_become(term: Term, names: Mapping[str, Any]) -> bool:
    """A bare word that begins a column's name, or a `/` whose regular expression is still open."""
    if term.op == "~":
        return term.value.startswith("/") and term.regex is None
    return not term.column and term.text.removeprefix("!") == term.value and bool(begun(term.value, names))


def begun(word: str, names: Mapping[str, Any]) -> list[str]:
    """The columns whose names begin so."""
    return [name for name in names if name.startswith(word.lower())] if word else []
