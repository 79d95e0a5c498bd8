"""Mode 5: compose a LIST, foresee it, fire it, compare."""

from ktui.tui.screens.lab.screen import LabScreen

__all__ = ["LabScreen"]
