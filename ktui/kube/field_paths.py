"""Paths of members, joined only for those that are reported.

A body of 3 MB has room for a key of 1 MB with 100,000 members below it: their paths would take 100 GB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

MOST_CHARACTERS = 1_000_000

Path: TypeAlias = "tuple[Path | None, str]"
"""The path of the parent, None for the object itself, and the last part: `.name` or `[0]`."""


def joined(path: Path | None) -> str:
    """Return `.spec.containers[0]`."""
    parts: list[str] = []
    while path is not None:
        path, part = path
        parts.append(part)
    return "".join(reversed(parts))


def within_limit(texts: Iterable[str]) -> Iterator[str]:
    """Yield the first texts, until they have MOST_CHARACTERS together."""
    room = MOST_CHARACTERS
    for text in texts:
        yield text
        room -= len(text)
        if room < 0:
            return
