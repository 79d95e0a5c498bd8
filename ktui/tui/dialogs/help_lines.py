"""The help as sections of lines, cut down to what the user looks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HelpLine:
    """Keys (or a column's title, or a badge) and what they are; `style` is that of the first."""

    name: str
    about: str
    style: str = "bold $accent"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines under one title."""

    title: str
    lines: tuple[HelpLine, ...]

    def matching(self, text: str) -> Section:
        """Only the lines in which every word of `text` stands."""
        words = text.lower().split()
        return Section(
            self.title,
            tuple(
                line for line in self.lines if all(w in f"{line.name} {line.about}".lower() for w in words)
            ),
        )


def merged(pairs: Iterable[tuple[str, str]]) -> tuple[HelpLine, ...]:
    """One line for all keys that do the same, in the order in which they come."""
    found: dict[str, list[str]] = {}
    for key, about in pairs:
        found.setdefault(about, []).append(key)
    return tuple(HelpLine(" ".join(dict.fromkeys(keys)), about) for about, keys in found.items())
