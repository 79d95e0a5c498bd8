"""Filter and sort the rows of a table, incrementally and in small steps."""

from ktui.core.table.arrange.arranger import Arranger
from ktui.core.table.arrange.order import SortKey

__all__ = ["Arranger", "SortKey"]
