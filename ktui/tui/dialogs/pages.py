"""Several texts about one subject; `y` shows the next."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ktui.core.format import safe
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.widgets.lines import line


class PagesScreen(Dialog[None]):
    """Shows `pages` (title → text), one at a time."""

    DEFAULT_CSS = """
    PagesScreen > VerticalScroll { width: 90%; max-height: 90%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.PAGES

    def __init__(self, title: str, pages: dict[str, str]) -> None:
        super().__init__()
        self._title = title
        self._pages = pages
        self._names = list(pages)
        self.at = 0

    @property
    def text(self) -> str:
        return self._pages[self._names[self.at]]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static("", markup=False)

    def on_mount(self) -> None:
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._entitle)  # once the box has its new width

    def action_turn(self, step: int) -> None:
        self.at = (self.at + step) % len(self._names)
        self._show()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.text)
        self.notify(f"copied: {self._names[self.at]}", markup=False)

    def _entitle(self) -> None:
        """Show the names of all pages beside the title, which is cut to leave them room."""
        box = self.query_one(VerticalScroll)
        names = [
            (f" {name} ", "reverse bold" if place == self.at else "$ink-muted")
            for place, name in enumerate(self._names)
        ]
        room = box.size.width - sum(cell_len(name) for name, _ in names) - 4
        title = line((self._title, "$ink-strong")).truncate(max(8, room), ellipsis=True)
        box.border_title = Content.assemble(title, "  ", line(*names))

    def _show(self) -> None:
        box = self.query_one(VerticalScroll)
        self._entitle()
        box.border_subtitle = key_hints(
            ("pages.next", "next form"), ("pages.copy", "copies"), ("pages.close", "closes")
        )
        shown = (safe(text.expandtabs(4)) for text in self.text.split("\n"))
        self.query_one(Static).update(Content("\n".join(shown)))
        box.scroll_home(animate=False)
