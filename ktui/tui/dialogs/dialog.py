"""The base of dialogs."""

from __future__ import annotations

from typing import Generic

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """One box in the middle of the screen that it covers: a list, or a container."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 60%; }
    Dialog > OptionList, Dialog > Container, Dialog > Vertical, Dialog > VerticalScroll {
        width: 76; max-width: 96%; height: auto; max-height: 92%; background: $surface;
        border: round $line-focus; border-title-color: $ink-strong; border-subtitle-color: $ink-muted;
        padding: 0 1; scrollbar-size-vertical: 1;
    }
    Dialog > OptionList {
        text-wrap: nowrap; text-overflow: ellipsis;
        &:focus {
            border: round $line-focus;
            & > .option-list--option-highlighted {
                background: $cursor; color: $foreground; text-style: none;
            }
        }
    }
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the dialog, once: a key typed early must not close the screen below."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()
