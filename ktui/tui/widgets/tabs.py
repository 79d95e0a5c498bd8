"""A line of tabs, where there is room for one panel only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line


def tabs_content(
    titles: Iterable[str],
    shown: int,
    width: int,
    turned_by: Sequence[str] = ("detail.previous", "detail.next"),
) -> Content:
    """The titles, the one shown set off, and the keys that change it (of the bindings `turned_by`).

    Where `width` is too small for all, those around the one shown; `…` stands for the others.
    """
    titles = list(titles)
    keys = " ".join(map(key_of, turned_by))
    first, last = 0, len(titles)
    while (drawn := _tabs(titles, shown, first, last, keys)).cell_length > width and last - first > 1:
        first, last = (first, last - 1) if last - 1 > shown else (first + 1, last)
    return drawn


def _tabs(titles: Sequence[str], shown: int, first: int, last: int, keys: str) -> Content:
    runs: list[tuple[str, str]] = [("… ", "$ink-muted")] if first else []
    for index in range(first, last):
        style = "bold $ink-strong on $cursor" if index == shown else "$ink-muted"
        runs += [(f" {titles[index]} ", style), (" ", "")]
    if last < len(titles):
        runs.append(("… ", "$ink-muted"))
    return line(*runs, (keys, "$accent"))
