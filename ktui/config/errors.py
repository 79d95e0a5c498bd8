"""Errors in settings: one sentence with file and line, and the nearest valid word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple


class ConfigError(ValueError):
    """A config file, a KTUI_* variable or a context is invalid; the message is one sentence."""


class InvalidEntry(NamedTuple):
    """An invalid entry of a table: its id, and one sentence."""

    id: str
    text: str


def nearest(word: str, words: Iterable[str]) -> str:
    """Return a hint: `did you mean 'theme'?`, or all valid words."""
    known = sorted(words)
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there is {', '.join(known)}" if known else "none is known"
