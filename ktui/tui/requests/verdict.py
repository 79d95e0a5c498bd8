"""A route and the reason for it in a few lines."""

from __future__ import annotations

import textwrap

from textual.content import Content

from ktui.core.format import safe
from ktui.core.routes import Badge
from ktui.tui.widgets.lines import line

INDENT = 2  # cells: what follows stands beneath the first line's word


def badged_lines(
    badge: Badge, word: str, why: str, width: int, most: int, *, hyphens: bool = True
) -> list[Content]:
    """`E etcd: because …`, wrapped beneath itself into at most `most` lines; `word` has the badge's style.

    `hyphens`: whether a line may end at one.
    """
    head, *rest = textwrap.wrap(
        safe(f"{word}: {why}" if why else word),
        max(10, width - INDENT),
        max_lines=max(1, most),
        placeholder=" …",
        break_on_hyphens=hyphens,
    ) or [word]
    first = line((f"{badge.letter} ", badge.style), (head[: len(word)], badge.style), head[len(word) :])
    return [first, *(line((" " * INDENT + text, "$foreground")) for text in rest)]
