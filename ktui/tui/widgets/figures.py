"""Columns of counts and bytes: aligned to the right, sorted in descending order, a dot for none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ktui.core.format import short_bytes, short_count
from ktui.core.table.columns import NOTHING, Cell, Column

Row = TypeVar("Row")


def figure(
    name: str,
    title: str,
    value: Callable[[Row], float | None],
    about: str,
    *,
    width: int = 5,
    priority: int = 1,
    unit: str = "",
    cell: Callable[[Row], Cell] | None = None,
    style: str = "$foreground",
    loud: float = 0,
    loud_style: str = "bold $warning",  # bold too, for those who cannot see the colour
    aliases: tuple[str, ...] = (),
) -> Column[Row]:
    """Return a column of counts, or of bytes with `unit` "B".

    `value` returns None while the value is unknown. `cell` replaces the default cell. Numbers of
    at least `loud` are drawn in `loud_style`; 0 turns that off.
    """
    short = short_bytes if unit == "B" else short_count

    def default_cell(row: Row) -> Cell:
        number = value(row)
        if not number:
            return NOTHING
        return (short(number), loud_style if loud and number >= loud else style)

    return Column(
        name,
        title,
        cell or default_cell,
        value,
        width=width,
        align="right",
        priority=priority,
        descending=True,
        about=about,
        unit=unit,
        aliases=aliases,
    )
