"""Mode 6: the open WATCHes."""

from ktui.tui.screens.watches.screen import WatchesScreen

__all__ = ["WatchesScreen"]
