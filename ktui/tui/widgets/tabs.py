"""A line of tabs, for places with room for one panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line


def tabs_content(
    titles: Iterable[str],
    shown: int,
    width: int,
    key_ids: Sequence[str] = ("detail.previous", "detail.next"),
) -> Content:
    """Return the titles, the shown one highlighted, and the keys of the bindings `key_ids`.

    Where `width` is too small, `…` replaces the titles farthest from the one shown.
    """
    titles = list(titles)
    titles = list(titles)
    keys = " ".join(map(key_of, key_ids))
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
