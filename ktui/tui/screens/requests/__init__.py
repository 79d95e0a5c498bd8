"""Mode 2: every request, and the costliest of them by client and shape."""

from ktui.tui.screens.requests.screen import RequestsScreen

__all__ = ["RequestsScreen"]
