"""The list of completions above the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from ktui.tui.widgets.lines import line, lines, pad

_TEXT = 34  # minimal cells for suggested lines
_ABOUT = 24  # minimal cells for their descriptions, which give way to longer lines
_MARGIN = 2


class Suggested(Protocol):
    """A suggested line with its description; `more` is True if something must follow it."""

    @property
    def text(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def more(self) -> bool: ...


class Suggestions(Widget):
    """Covers the lines above the prompt, so that the layout stays; the best match is on top."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Suggestions {
        dock: bottom; layer: suggestions; display: none; height: auto; width: 100%; margin: 0 0 1 0;
        background: $panel; text-wrap: nowrap; text-overflow: ellipsis;
        &.-open { display: block; }
    }
    """

    class Picked(Message):
        """A suggestion was clicked."""

        def __init__(self, suggestion: Suggested) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self) -> None:
        super().__init__()
        self.shown: Sequence[Suggested] = ()
        self.at = -1  # index of the chosen one; -1: none

    @property
    def chosen(self) -> Suggested | None:
        return self.shown[self.at] if 0 <= self.at < len(self.shown) else None

    def offer(self, suggestions: Sequence[Suggested]) -> None:
        """Show these, with none chosen; hide the list if there are none."""
        if list(suggestions) == list(self.shown) and self.at == -1:
            return
        self.shown, self.at = tuple(suggestions), -1
        self.set_class(bool(self.shown), "-open")
        self.refresh(layout=True)

    def choose(self, step: int) -> Suggested | None:
        """Choose the next one down (`step` 1) or up (-1), cyclically; None if there are none."""
        if not self.shown:
            return None
        self.at = (self.at + step) % len(self.shown) if self.at >= 0 or step > 0 else len(self.shown) - 1
        self.refresh()
        return self.shown[self.at]

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.shown)

    def render(self) -> Content:
        width = self.content_size.width
        longest = max((cell_len(item.text) for item in self.shown), default=0)
        room = max(_TEXT, min(longest, width - _MARGIN - _ABOUT))
        return lines(
            self._line(item, room, at == self.at).truncate(width, ellipsis=True)
            for at, item in enumerate(self.shown)
        )

    def _line(self, item: Suggested, room: int, chosen: bool) -> Content:
        state = "bold reverse " if chosen else ""
        mark = "▸ " if chosen else "  "
        return line(
            (mark, "$accent"),
            (pad(item.text, room), f"{state}$ink-strong"),
            (" " * _MARGIN, ""),
            (item.about, "$ink-muted"),
        )

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self.shown):
            self.at = event.y
            self.post_message(self.Picked(self.shown[event.y]))
