"""Mode 1: the loop at a glance."""

from ktui.tui.screens.overview.screen import OverviewScreen

__all__ = ["OverviewScreen"]
