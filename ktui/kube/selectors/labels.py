"""Label selectors, parsed once into a function over an object's labels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ktui.kube.fielderrors import aggregate
from ktui.kube.selectors.requirements import (
    Operator,
    Requirement,
    Test,
    all_of,
    key_errors,
    requirement_errors,
)
from ktui.kube.status import bad_request
from ktui.kube.text_cache import cached_by_text

_SYMBOLS = frozenset([*"=!(),><", "==", "!="])
# A NUL ends the selector where a token could begin; directly after a token it only ends that token.
_TOKEN = re.compile(r"[ \t\r\n]*+(==|!=|[=!(),><]|[^=!(),>< \t\r\n\0]+)\0?")
END = ""


def tokens(text: str) -> list[str]:
    """Split a label selector into names and symbols; the last token is END."""
    found: list[str] = []
    at = 0
    while token := _TOKEN.match(text, at):
        found.append(token[1])
        at = token.end()
    return [*found, END]


def _is_name(token: str) -> bool:
    """`in` and `notin` are plain names where a name is expected."""
    return token not in _SYMBOLS and token != END


_BINARY = {
    "in": Operator.IN, "notin": Operator.NOT_IN, "=": Operator.EQUALS, "==": Operator.EQUALS,
    "!=": Operator.NOT_EQUALS, ">": Operator.GREATER_THAN, "<": Operator.LESS_THAN,
}  # fmt: skip
# Upstream lists its operators by name, not as typed: `gt` for `>`.
_EXPECTED_OPERATORS = "in, notin, =, ==, !=, gt, lt"


class SelectorError(ValueError):
    """str() is upstream's text."""


class _Parser:
    """The grammar of label selectors, with kube-apiserver's error texts.

    selector    = [ requirement { "," requirement } ]
    requirement = [ "!" ] key | key operator
    operator    = ( "=" | "==" | "!=" ) [ value ] | ( ">" | "<" ) integer | ( "in" | "notin" ) values
    values      = "(" [ value ] { "," [ value ] } ")"
    """

    def __init__(self, scanned: list[str]) -> None:
        self._tokens = scanned
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[min(self._at, len(self._tokens) - 1)]

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def selector(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while (token := self._peek()) != END:
            if not _is_name(token) and token != "!":
                raise SelectorError(f"found '{token}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            token = self._take()
            if token == END:
                break
            if token != ",":
                raise SelectorError(f"found '{token}', expected: ',' or 'end of string'")
            following = self._peek()
            if not _is_name(following) and following != "!":
                raise SelectorError(f"found '{following}', expected: identifier after ','")
        return tuple(found)

    def _requirement(self) -> Requirement:
        negated = self._peek() == "!"
        if negated:
            self._take()
        key = self._name()
        if errors := key_errors(key):
            raise SelectorError(aggregate(errors))
        if negated:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        if self._peek() in (END, ","):
            return Requirement(key, Operator.EXISTS)
        token = self._take()
        operator = _BINARY.get(token)
        if operator is None:
            raise SelectorError(f"found '{token}', expected: {_EXPECTED_OPERATORS}")
        if operator in (Operator.IN, Operator.NOT_IN):
            values = self._values()
        else:  # a missing value is the empty one
            values = {"" if self._peek() in (END, ",") else self._name()}
        requirement = Requirement(key, operator, tuple(sorted(values)))
        if errors := requirement_errors(requirement):
            raise SelectorError(aggregate(errors))
        return requirement

    def _name(self) -> str:
        token = self._take()
        if not _is_name(token):
            raise SelectorError(f"found '{token}', expected: identifier")
        return token

    def _values(self) -> set[str]:
        token = self._take()
        if token != "(":
            raise SelectorError(f"found '{token}' expected: '('")
        first = self._peek()
        if first == ")":
            self._take()
            return {""}
        if not _is_name(first) and first != ",":
            raise SelectorError(f"found '{first}', expected: ',', ')' or identifier")
        values = self._value_list()
        if self._take() != ")":
            raise SelectorError(f"found '{first}', expected: ')'")
        return values

    def _value_list(self) -> set[str]:
        """Return the values up to the closing parenthesis; nothing between two commas is the empty value."""
        values: set[str] = set()
        while True:
            token, following = self._take(), self._peek()
            if _is_name(token):
                values.add(token)
                if following not in (",", ")"):
                    raise SelectorError(f"found '{following}', expected: ',' or ')'")
            elif token != ",":
                raise SelectorError(f"found '{token}', expected: ',', or identifier")
            elif not values or following in (",", ")"):
                values.add("")
                if following == ",":
                    self._take()
            if following == ")":
                return values


class LabelSelector:
    """A label selector: all requirements must hold. `matches` is a plain function: bind it before a loop."""

    __slots__ = ("matches", "requirements")

    matches: Test
    requirements: tuple[Requirement, ...]

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        self.requirements = tuple(requirements)
        self.matches = all_of(self.requirements)

    @staticmethod
    def parse(text: str) -> LabelSelector:
        """Parse `app in (web,cart),!canary`. Raises StatusError 400 with upstream's text."""
        try:
            return _parse(text)
        except SelectorError as error:
            raise bad_request(str(error)) from None

    @property
    def empty(self) -> bool:
        """True if every object matches."""
        return not self.requirements

    def __str__(self) -> str:
        return ",".join(map(str, sorted(self.requirements, key=lambda r: r.key)))

    def __repr__(self) -> str:
        return f"LabelSelector({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSelector) and self.requirements == other.requirements

    def __hash__(self) -> int:
        return hash(self.requirements)


@cached_by_text(maxsize=512)
def _parse(text: str) -> LabelSelector:
    return LabelSelector(_Parser(tokens(text)).selector())
