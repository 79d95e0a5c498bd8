"""The keys of the screen below, read from its live bindings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from ktui.tui.model.routes import LEGEND
from ktui.tui.widgets.lines import line, lines, pad

_KEY_WIDTH = 14


class HelpScreen(ModalScreen[None]):
    """`?` opens and closes it."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > VerticalScroll {
        width: 64; max-width: 96%; height: auto; max-height: 92%; background: $surface;
        border: round $line-focus; padding: 0 2; border-title-color: $ink-strong;
        border-subtitle-color: $ink-muted; scrollbar-size-vertical: 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "close", id="help.close", tooltip="close")
    ]

    def __init__(self, over: Screen[object]) -> None:
        super().__init__()
        self._over = over

    def compose(self) -> ComposeResult:
        box = VerticalScroll()
        box.border_title = "keys"
        box.border_subtitle = "esc closes"
        with box:
            yield Static(help_content(self._over), markup=False)


def help_content(screen: Screen[object]) -> Content:
    """Every binding that is live on `screen`, then the legend of the route badges."""
    rows = [line((pad(keys, _KEY_WIDTH), "bold $accent"), about) for keys, about in live_bindings(screen)]
    rows.append(line(""))
    rows.append(line(("routes", "$ink-muted")))
    rows += [line((pad(badge.letter, _KEY_WIDTH), badge.style), badge.word) for badge in LEGEND]
    return lines(rows)


def live_bindings(screen: Screen[object]) -> Iterator[tuple[str, str]]:
    """(keys, what they do) of each binding that acts on this screen now, without Textual's own."""
    shown: dict[str, list[str]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.system or not binding.id:
            continue
        about = binding.tooltip or binding.description
        key = screen.app.get_key_display(binding)
        shown.setdefault(about, []).append(key)
    for about, keys in shown.items():
        yield " ".join(dict.fromkeys(keys)), about
