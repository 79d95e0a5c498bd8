"""Columns of numbers: counts and bytes, aligned to the right, greatest first, with a dot for none."""

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
    loud_style: str = "bold $warning",  # by weight too: colour alone says nothing to many
    aliases: tuple[str, ...] = (),
) -> Column[Row]:
    """A column of counts, or with `unit` "B" of bytes; `cell` where it shows otherwise.

    None is a value that is not known (yet). From `loud` on a number is drawn in `loud_style`.
    """
    short = short_bytes if unit == "B" else short_count

    def said(row: Row) -> Cell:
        number = value(row)
        if not number:
            return NOTHING
        return (short(number), loud_style if loud and number >= loud else style)

    return Column(
        name,
        title,
        cell or said,
        value,
        width=width,
        align="right",
        priority=priority,
        descending=True,
        about=about,
        unit=unit,
        aliases=aliases,
    )
