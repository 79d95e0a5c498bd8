"""The help as sections of lines that a search can filter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HelpLine:
    """A name (keys, a column, a badge) with its style, and its description."""

    name: str
    about: str
    style: str = "bold $accent"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines with a title."""

    title: str
    lines: tuple[HelpLine, ...]

    def matching(self, text: str) -> Section:
        """Return the section with only the lines that contain every word of `text`."""
        words = text.lower().split()
        return Section(
            self.title,
            tuple(
                line for line in self.lines if all(w in f"{line.name} {line.about}".lower() for w in words)
            ),
        )


def merged(pairs: Iterable[tuple[str, str]]) -> tuple[HelpLine, ...]:
    """Return one line for all keys with the same description, in the order of their first key."""
    found: dict[str, list[str]] = {}
    for key, about in pairs:
        found.setdefault(about, []).append(key)
    return tuple(HelpLine(" ".join(dict.fromkeys(keys)), about) for about, keys in found.items())
