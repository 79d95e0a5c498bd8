"""Label selectors, parsed once into a function over an object's labels."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

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

_SPECIAL = frozenset("=!(),><")
_SPACE = frozenset(" \t\r\n")
_NUL = "\0"
_WORD_END = _SPECIAL | _SPACE | {_NUL}


class TokenKind(Enum):
    """What a token is."""

    END = auto()
    CLOSE = auto()
    COMMA = auto()
    NOT = auto()
    DOUBLE_EQUALS = auto()
    EQUALS = auto()
    GREATER = auto()
    IDENTIFIER = auto()
    IN = auto()
    LESS = auto()
    NOT_EQUALS = auto()
    NOT_IN = auto()
    OPEN = auto()


_WORDS = {
    ")": TokenKind.CLOSE, ",": TokenKind.COMMA, "!": TokenKind.NOT, "==": TokenKind.DOUBLE_EQUALS,
    "=": TokenKind.EQUALS, ">": TokenKind.GREATER, "in": TokenKind.IN, "<": TokenKind.LESS,
    "!=": TokenKind.NOT_EQUALS, "notin": TokenKind.NOT_IN, "(": TokenKind.OPEN,
}  # fmt: skip


class SelectorToken(NamedTuple):
    """A token and the text it was read from."""

    kind: TokenKind
    text: str


def tokens(text: str) -> list[SelectorToken]:
    """Split a label selector into tokens; the last one is END.

    A NUL ends the selector where a token could begin; directly after a token it only ends that token.
    """
    found: list[SelectorToken] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at >= len(text) or text[at] == _NUL:
            return [*found, SelectorToken(TokenKind.END, "")]
        token = _symbol(text, at) if text[at] in _SPECIAL else _word(text, at)
        found.append(token)
        at += len(token.text)
        at += text[at : at + 1] == _NUL


def _symbol(text: str, at: int) -> SelectorToken:
    """Return the longest symbol at `at` (`==` before `=`); every special character is a token."""
    pair = text[at : at + 2]
    symbol = pair if pair in _WORDS else text[at]
    return SelectorToken(_WORDS[symbol], symbol)


def _word(text: str, at: int) -> SelectorToken:
    end = at
    while end < len(text) and text[end] not in _WORD_END:
        end += 1
    word = text[at:end]
    return SelectorToken(_WORDS.get(word, TokenKind.IDENTIFIER), word)


_BINARY = {
    TokenKind.IN: Operator.IN,
    TokenKind.NOT_IN: Operator.NOT_IN,
    TokenKind.EQUALS: Operator.EQUALS,
    TokenKind.DOUBLE_EQUALS: Operator.EQUALS,
    TokenKind.NOT_EQUALS: Operator.NOT_EQUALS,
    TokenKind.GREATER: Operator.GREATER_THAN,
    TokenKind.LESS: Operator.LESS_THAN,
}
# Upstream lists its operators by name, not as typed: `gt` for `>`.
_EXPECTED_OPERATORS = "in, notin, =, ==, !=, gt, lt"


class SelectorError(ValueError):
    """str() is upstream's text."""


def parse_requirements(selector: str) -> tuple[Requirement, ...]:
    """The requirements in the order written. Raises SelectorError."""
    return _Parser(tokens(selector)).selector()


class _Parser:
    """The grammar of label selectors, with kube-apiserver's error texts.

    selector    = [ requirement { "," requirement } ]
    requirement = [ "!" ] key | key operator
    operator    = ( "=" | "==" | "!=" ) [ value ] | ( ">" | "<" ) integer | ( "in" | "notin" ) values
    values      = "(" [ value ] { "," [ value ] } ")"
    """

    def __init__(self, scanned: list[SelectorToken]) -> None:
        self._tokens = scanned
        self._at = 0

    def _peek(self) -> SelectorToken:
        """The next token; `in` and `notin` are plain names where a name is expected."""
        token = self._tokens[min(self._at, len(self._tokens) - 1)]
        return (
            SelectorToken(TokenKind.IDENTIFIER, token.text)
            if token.kind in (TokenKind.IN, TokenKind.NOT_IN)
            else token
        )

    def _take(self) -> SelectorToken:
        token = self._peek()
        self._at += 1
        return token

    def selector(self) -> tuple[Requirement, ...]:
        found: list[Requirement] = []
        while (token := self._peek()).kind is not TokenKind.END:
            if token.kind not in (TokenKind.IDENTIFIER, TokenKind.NOT):
                raise SelectorError(f"found '{token.text}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            if self._separator_was_last():
                break
        return tuple(found)

    def _separator_was_last(self) -> bool:
        token = self._take()
        if token.kind is TokenKind.END:
            return True
        if token.kind is not TokenKind.COMMA:
            raise SelectorError(f"found '{token.text}', expected: ',' or 'end of string'")
        following = self._peek()
        if following.kind not in (TokenKind.IDENTIFIER, TokenKind.NOT):
            raise SelectorError(f"found '{following.text}', expected: identifier after ','")
        return False

    def _requirement(self) -> Requirement:
        negated = self._peek().kind is TokenKind.NOT
        if negated:
            self._take()
        key = self._key()
        if negated:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        if self._peek().kind in (TokenKind.END, TokenKind.COMMA):
            return Requirement(key, Operator.EXISTS)
        operator = self._operator()
        several = operator in (Operator.IN, Operator.NOT_IN)
        values = self._values() if several else {self._value()}
        requirement = Requirement(key, operator, tuple(sorted(values)))
        if errors := requirement_errors(requirement):
            raise SelectorError(aggregate(errors))
        return requirement

    def _key(self) -> str:
        token = self._take()
        if token.kind is not TokenKind.IDENTIFIER:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        if errors := key_errors(token.text):
            raise SelectorError(aggregate(errors))
        return token.text

    def _operator(self) -> Operator:
        self._at += 1
        token = self._tokens[min(self._at, len(self._tokens)) - 1]
        if token.kind not in _BINARY:
            raise SelectorError(f"found '{token.text}', expected: {_EXPECTED_OPERATORS}")
        return _BINARY[token.kind]

    def _value(self) -> str:
        """Return the value of a comparison; a missing value is the empty one."""
        if self._peek().kind in (TokenKind.END, TokenKind.COMMA):
            return ""
        token = self._take()
        if token.kind is not TokenKind.IDENTIFIER:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> set[str]:
        token = self._take()
        if token.kind is not TokenKind.OPEN:
            raise SelectorError(f"found '{token.text}' expected: '('")
        first = self._peek()
        if first.kind is TokenKind.CLOSE:
            self._take()
            return {""}
        if first.kind not in (TokenKind.IDENTIFIER, TokenKind.COMMA):
            raise SelectorError(f"found '{first.text}', expected: ',', ')' or identifier")
        values = self._value_list()
        if self._take().kind is not TokenKind.CLOSE:
            raise SelectorError(f"found '{first.text}', expected: ')'")
        return values

    def _value_list(self) -> set[str]:
        """Return the values up to the closing parenthesis; nothing between two commas is the empty value."""
        values: set[str] = set()
        while True:
            token = self._take()
            following = self._peek()
            if token.kind is TokenKind.IDENTIFIER:
                values.add(token.text)
                if following.kind is TokenKind.CLOSE:
                    return values
                if following.kind is not TokenKind.COMMA:
                    raise SelectorError(f"found '{following.text}', expected: ',' or ')'")
            elif token.kind is TokenKind.COMMA:
                if not values:
                    values.add("")
                if following.kind is TokenKind.CLOSE:
                    values.add("")
                    return values
                if following.kind is TokenKind.COMMA:
                    self._take()
                    values.add("")
            else:
                raise SelectorError(f"found '{token.text}', expected: ',', or identifier")


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
    return LabelSelector(parse_requirements(text))
