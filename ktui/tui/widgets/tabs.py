"""A line of tabs, where there is room for one panel only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line


def tabs_content(
    titles: Iterable[str], shown: int, turned_by: Sequence[str] = ("detail.previous", "detail.next")
) -> Content:
    """The titles, the one shown set off, and the keys that change it (of the bindings `turned_by`)."""
    runs: list[tuple[str, str]] = []
    for index, title in enumerate(titles):
        runs += [(f" {title} ", "bold $ink-strong on $cursor" if index == shown else "$ink-muted"), (" ", "")]
    return line(*runs, (" ".join(map(key_of, turned_by)), "$accent"))
