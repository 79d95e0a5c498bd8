"""Mode 8: the request in hand under every version."""

from ktui.tui.screens.versions.screen import VersionsScreen

__all__ = ["VersionsScreen"]
