"""Containers, panels and their tabs: each paints only what changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import zip_longest

from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget

from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import line


class Area(Container):
    """A container that paints only its background.

    Textual paints a container line by line, border and padding, even where other widgets cover all of it.
    """

    BLANK = True


class HorizontalArea(Horizontal):
    """An Area that lays out its children from left to right."""

    BLANK = True


class VerticalArea(Vertical):
    """An Area that lays out its children from top to bottom."""

    BLANK = True


Build = Callable[[int, int], Content]  # (width, height in cells) -> content


class Panel(Widget):
    """Paints the content that `show` was last given, and of it only the lines that changed.

    Content is never markup.
    """

    DEFAULT_CSS = """
    Panel { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, title: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        # Its texts have no links: looking for them in each run took a fifth of an idle dashboard's time.
        self.set_reactive(Widget.auto_links, False)
        if title:
            self.border_title = Content(title)
        self._build: Build = lambda width, height: Content("")
        self._stamp: Hashable = None
        self._lines: list[Content] = []
        self._built_for = Size()

    def show(self, build: Build, stamp: Hashable = None) -> None:
        """Paint what `build` returns at the next frame, unless `stamp` is the same as last time."""
        if stamp is not None and stamp == self._stamp:
            return
        self._stamp = stamp
        self._build = build
        before, size = self._lines, self.content_size
        if not size or size != self._built_for:
            self._built_for = Size()
            self.refresh()
            return
        self._make(size)
        moved = [
            Region(0, y, size.width, 1)
            for y, (old, new) in enumerate(zip_longest(before, self._lines))
            if old is None or new is None or not old.is_same(new)
        ]
        if moved:
            self.refresh(*moved)

    def _make(self, size: Size) -> None:
        self._built_for = size
        self._lines = self._build(size.width, size.height).split("\n", allow_blank=True) if size else []

    def render(self) -> Content:
        if self._built_for != self.content_size:
            self._make(self.content_size)
        return Content("\n").join(self._lines)


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
