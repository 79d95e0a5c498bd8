"""The last term of a filter while it is typed: is it complete, and can it still become another term?

Half a word must not empty a table. So an incomplete term is not applied, and a term that can still
become another one is ignored if no row matches it. `enter` applies the filter as it is typed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ktui.core.table.filter.terms import COMPARING, Term

_BEGINS_A_NUMBER = re.compile(r"[-+]?[.,]*")


def is_incomplete(term: Term, names: Mapping[str, Any]) -> bool:
    """True for `client:`, `ms>`, `ms>-`, `client:"kube`, `ms!` (before `ms!=`), and `!` or `~` alone.

    `names` are the names of the columns.
    """
    if term.unclosed or term.text in ("!", "~", "!~"):
        return True
    if term.op in COMPARING:
        return _BEGINS_A_NUMBER.fullmatch(term.value) is not None
    if not term.column:
        return term.value.endswith("!") and term.value[:-1].lower() in names
    return not term.value and term.text.endswith(term.op)  # client="" selects empty values


def may_become(term: Term, names: Mapping[str, Any]) -> bool:
    """True for a bare word that begins a column's name, and for an unclosed regular expression."""
    if term.op == "~":
        return term.value.startswith("/") and term.regex is None
    return not term.column and term.text.removeprefix("!") == term.value and bool(begun(term.value, names))


def begun(word: str, names: Mapping[str, Any]) -> list[str]:
    """Return the column names that begin with `word`."""
    return [name for name in names if name.startswith(word.lower())] if word else []
