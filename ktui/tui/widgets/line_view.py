"""A scrollable view of typed lines that paints only what is visible."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ktui.core.object_lines import Line
from ktui.tui.keys import bindings as keys

ROLES = ("key", "string", "number", "literal", "punct", "dim", "plain", "added", "removed")


class LineView(ScrollView, can_focus=True):
    """Lines of spans; the colour of a role is the component class `lines--ROLE`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in ROLES}
    DEFAULT_CSS = """
    LineView {
        scrollbar-size: 0 1;
        & .lines--key { color: $primary; }
        & .lines--string { color: $foreground; }
        & .lines--number { color: $accent; }
        & .lines--literal { color: $warning; }
        & .lines--punct { color: $ink-muted; }
        & .lines--dim { color: $ink-muted; }
        & .lines--plain { color: $foreground; }
        & .lines--added { color: $success; }
        & .lines--removed { color: $error; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.LINES

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []

    @property
    def lines(self) -> list[Line]:
        return self._lines

    @property
    def text(self) -> str:
        """All lines as plain text, as they are shown."""
        return "\n".join("".join(span.text for span in line) for line in self._lines)

    def show(self, lines: list[Line]) -> None:
        """Replace what is shown and go back to its beginning."""
        self._lines = lines
        width = max((sum(cell_len(span.text) for span in line) for line in lines), default=0)
        self.virtual_size = Size(width, len(lines))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        width, base = self.scrollable_content_region.width, self.rich_style
        row = top + y
        if row >= len(self._lines):
            return Strip.blank(width, base)
        segments = [
            Segment(span.text, base + self.get_component_rich_style(f"lines--{span.role}", partial=True))
            for span in self._lines[row]
        ]
        return Strip(segments).crop_extend(left, left + width, base)
