"""The terms of a filter's text, with their positions."""

from __future__ import annotations

import re

from msgspec import Struct

COMPARING = ("<", ">", "<=", ">=")
_TERM = re.compile(
    r"""(?P<not>!?)
        (?:(?P<column>[A-Za-z][\w-]*)(?P<op>>=|<=|!=|[:~=<>])|(?P<any>~))?
        (?P<value>"[^"]*"?|'[^']*'?|\S*)""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")


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
        found = _TERM.match(text, place)
        assert found is not None  # every part may be empty
        terms.append(_term(found, place))
        place = _space(text, max(found.end(), place + 1))
    return tuple(terms)


def _space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found is not None else place


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
