"""Tokens of a label selector."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

_SPECIAL = frozenset("=!(),><")
_SPACE = frozenset(" \t\r\n")
_END = "\0"


class Kind(Enum):
    """What a token is."""

    END = auto()
    ERROR = auto()
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
    ")": Kind.CLOSE,
    ",": Kind.COMMA,
    "!": Kind.NOT,
    "==": Kind.DOUBLE_EQUALS,
    "=": Kind.EQUALS,
    ">": Kind.GREATER,
    "in": Kind.IN,
    "<": Kind.LESS,
    "!=": Kind.NOT_EQUALS,
    "notin": Kind.NOT_IN,
    "(": Kind.OPEN,
}


class Token(NamedTuple):
    """A token and the text it was read from."""

    kind: Kind
    text: str


def tokens(selector: str) -> list[Token]:
    """All tokens; the last one is END. A NUL ends the selector, as in upstream."""
    text = selector.split(_END, 1)[0]
    found: list[Token] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at == len(text):
            return [*found, Token(Kind.END, "")]
        token = _symbol(text, at) if text[at] in _SPECIAL else _word(text, at)
        found.append(token)
        at += len(token.text)


def _symbol(text: str, at: int) -> Token:
    """The longest of `=`, `==`, `!=` … Every special character is a token by itself."""
    pair = text[at : at + 2]
    symbol = pair if pair in _WORDS else text[at]
    return Token(_WORDS[symbol], symbol)


def _word(text: str, at: int) -> Token:
    end = at
    while end < len(text) and text[end] not in _SPECIAL and text[end] not in _SPACE:
        end += 1
    word = text[at:end]
    return Token(_WORDS.get(word, Kind.IDENTIFIER), word)
