"""Split a label selector into tokens."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

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
    ")": TokenKind.CLOSE,
    ",": TokenKind.COMMA,
    "!": TokenKind.NOT,
    "==": TokenKind.DOUBLE_EQUALS,
    "=": TokenKind.EQUALS,
    ">": TokenKind.GREATER,
    "in": TokenKind.IN,
    "<": TokenKind.LESS,
    "!=": TokenKind.NOT_EQUALS,
    "notin": TokenKind.NOT_IN,
    "(": TokenKind.OPEN,
}


class SelectorToken(NamedTuple):
    """A token and the text it was read from."""

    kind: TokenKind
    text: str


def tokens(text: str) -> list[SelectorToken]:
    """Return all tokens; the last one is END.

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
