"""A titled box whose content is built from the state, and only when that has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from textual.content import Content
from textual.widget import Widget

Build = Callable[[int, int], Content]  # (width, height in cells) -> content


class Panel(Widget):
    """Paints what `show` was last given. Content is never markup."""

    DEFAULT_CSS = """
    Panel { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, title: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        if title:
            self.border_title = Content(title)
        self._build: Build = lambda width, height: Content("")
        self._stamp: Hashable = None

    def show(self, build: Build, stamp: Hashable = None) -> None:
        """Paint with `build` at the next frame, unless `stamp` says nothing has changed."""
        if stamp is not None and stamp == self._stamp:
            return
        self._stamp = stamp
        self._build = build
        self.refresh()

    def render(self) -> Content:
        width, height = self.content_size
        return self._build(width, height) if width and height else Content("")
