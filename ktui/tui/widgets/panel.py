"""Containers, panels and their tabs: each paints only what changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Self

from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.visual import Visual
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
        self._lines: list[Content] = []
        self._strips: list[Strip | None] = []  # of the lines; None: not painted yet
        super().__init__(id=id, classes=classes)
        # Its texts have no links: looking for them in each run took a fifth of an idle dashboard's time.
        self.set_reactive(Widget.auto_links, False)
        if title:
            self.border_title = Content(title)
        self._build: Build = lambda width, height: Content("")
        self._stamp: Hashable = None
        self._built_for = Size()

    def show(self, build: Build, stamp: Hashable = None) -> None:
        """Paint what `build` returns at the next frame, unless `stamp` is the same as last time."""
        if stamp is not None and stamp == self._stamp:
            return
        self._stamp = stamp
        self._build = build
        size = self.content_size
        if not size:
            self._built_for = Size()  # built when it is laid out
            return
        if size != self._built_for:
            self._built_for = Size()
            self.refresh()
            return
        height = len(self._lines)
        moved = [*self._make(size), *range(len(self._lines), height)]
        if moved:
            self.refresh(*(Region(0, y, size.width, 1) for y in moved))

    def _make(self, size: Size) -> list[int]:
        """Build the lines, and return which changed. Those that are the same as before keep their strips."""
        old, strips = (self._lines, self._strips) if size == self._built_for else ([], [])
        self._built_for = size
        self._lines = self._build(size.width, size.height).split("\n", allow_blank=True) if size else []
        same = [y < len(old) and old[y].is_same(new) for y, new in enumerate(self._lines)]
        self._strips = [strips[y] if kept else None for y, kept in enumerate(same)]
        return [y for y, kept in enumerate(same) if not kept]

    def render(self) -> Content:
        if self._built_for != self.content_size:
            self._make(self.content_size)
        return Content("\n").join(self._lines)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        if not regions:  # the style may be another one
            self._strips = [None] * len(self._lines)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        """Return a line's strip, painted when the line or the style changes, not with each other line."""
        if self.text_selection is not None:  # it spans lines
            return super().render_line(y)
        size = self.content_size
        if self._built_for != size:
            self._make(size)
        if y >= len(self._lines):
            return Strip.blank(size.width, self.visual_style.rich_style)
        strip = self._strips[y]
        if strip is None:
            style = self.visual_style
            painted = Visual.to_strips(self, self._lines[y], size.width, 1, style)
            strip = self._strips[y] = painted[0] if painted else Strip.blank(size.width, style.rich_style)
        return strip


class OneShown(Widget):
    """Panels of which a small terminal shows one at a time; `PANELS` has their ids and short titles."""

    PANELS: ClassVar[Mapping[str, str]]
    shown_panel = 0  # index

    def turn(self, step: int) -> None:
        """Mark the panel `step` places on, and its container, as the one to show; name it in `#tabs`."""
        index = self.shown_panel = (self.shown_panel + step) % len(self.PANELS)
        panels = [self.query_one(f"#{name}") for name in self.PANELS]
        for widget in {*panels, *(panel.parent for panel in panels)}:
            if isinstance(widget, Widget):
                widget.set_class(widget in (panels[index], panels[index].parent), "-shown")
        titles = self.PANELS.values()
        self.query_one("#tabs", Panel).show(lambda width, _: tabs_content(titles, index, width))


def tabs_content(
    titles: Iterable[str], shown: int, width: int, key_ids: Sequence[str] = ("detail.previous", "detail.next")
) -> Content:
    """Return the titles, the shown one highlighted, and the keys of the bindings `key_ids`.

    Where `width` is too small, `…` replaces the titles farthest from the one shown.
    """
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
