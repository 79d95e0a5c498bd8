"""Tokens of a label selector."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

_SPECIAL = frozenset("=!(),><")
_SPACE = frozenset(" \t\r\n")
_NUL = "\0"
_WORD_END = _SPECIAL | _SPACE | {_NUL}


class Kind(Enum):
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


def tokens(text: str) -> list[Token]:
    """All tokens; the last one is END.

    A NUL ends the selector where a token could begin; right behind one it only ends that token.
    """
    found: list[Token] = []
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at >= len(text) or text[at] == _NUL:
            return [*found, Token(Kind.END, "")]
        token = _symbol(text, at) if text[at] in _SPECIAL else _word(text, at)
        found.append(token)
        at += len(token.text)
        at += text[at : at + 1] == _NUL


def _symbol(text: str, at: int) -> Token:
    """The longest of `=`, `==`, `!=` … Every special character is a token by itself."""
    pair = text[at : at + 2]
    symbol = pair if pair in _WORDS else text[at]
    return Token(_WORDS[symbol], symbol)


def _word(text: str, at: int) -> Token:
    end = at
    while end < len(text) and text[end] not in _WORD_END:
        end += 1
    word = text[at:end]
    return Token(_WORDS.get(word, Kind.IDENTIFIER), word)
