"""A titled box whose content is built from the state, and only after a change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import zip_longest

from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget

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
