"""Which rows of a table show, and in which order: pure, incremental, and in small steps."""

from ktui.tui.model.arrange.arranger import Arranger
from ktui.tui.model.arrange.order import SortKey

__all__ = ["Arranger", "SortKey"]
