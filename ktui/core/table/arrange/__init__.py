"""The rows of a table that are shown, and their order: pure, incremental, and in small steps."""

from ktui.core.table.arrange.arranger import Arranger
from ktui.core.table.arrange.order import SortKey

__all__ = ["Arranger", "SortKey"]
