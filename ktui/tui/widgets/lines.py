"""Helpers for content made of styled runs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from ktui.core.format import safe, short_bytes, short_count, within
from ktui.core.table.columns import NOTHING, Cell, Column, Run

Runs = Sequence[tuple[str, str]]  # text, style


def line(*parts: str | tuple[str, str]) -> Content:
    """Return one line from texts and (text, style) pairs; control characters are made visible."""
    return Content.assemble(
        *((safe(part), "") if isinstance(part, str) else (safe(part[0]), part[1]) for part in parts)
    )


def lines(parts: Iterable[Content]) -> Content:
    return Content("\n").join(parts)


def labelled(cells: int, label: str, *parts: str | Run) -> Content:
    """Return a row of a detail panel: a label of `cells` cells, then what it says."""
    said = ((part, "$foreground") if isinstance(part, str) else part for part in parts)
    return line((pad(label, cells), "$ink-muted"), *said)


def wrap(text: str, width: int, most: int | None = None, *, hyphens: bool = True) -> list[str]:
    """Return the lines of `text`, at least one and at most `most`; the last then ends in an ellipsis.

    With `hyphens` a line may break after a hyphen.
    """
    room = max(10, width)
    return textwrap.wrap(safe(text), room, max_lines=most, placeholder=" …", break_on_hyphens=hyphens) or [""]


def wrapped(
    text: str, width: int, style: str, *, indent: str = "", first: Run | None = None, hyphens: bool = True
) -> list[Content]:
    """Wrap `text` into indented lines, at least one; the first one begins with `first` instead.

    With `hyphens` a line may break after a hyphen.
    """
    texts = wrap(text, width - len(indent), hyphens=hyphens)
    if first is None:
        return [line((indent + part, style)) for part in texts]
    begins = [first, *[(indent, first[1])] * (len(texts) - 1)]
    return [line(begin, (part, style)) for begin, part in zip(begins, texts, strict=True)]


def first_lines(parts: Sequence[Content], width: int, height: int) -> Content:
    """Return as many lines as fit; the last one ends in an ellipsis where lines are missing."""
    shown = list(parts[:height])
    if len(parts) > height > 0:
        last = shown[-1] if shown[-1].cell_length < width else shown[-1][: width - 1]
        shown[-1] = last + Content("…")
    return lines(shown)


def between(left: Content, right: Content, width: int) -> Content:
    """Return `left` and `right` at the two ends of a line; without `right` where both do not fit."""
    gap = width - left.cell_length - right.cell_length
    if gap < 1:
        return left.truncate(width, ellipsis=True)
    return Content.assemble(left, " " * gap, right)


def longest_that_fits(forms: Iterable[Content], width: int) -> Content:
    """Return the first form that fits; the last one, cut, if none does."""
    form = Content("")
    for form in forms:
        if form.cell_length <= width:
            return form
    return form.truncate(width, ellipsis=True)


def parts_that_fit(
    parts: Sequence[str], width: int, style: str = "$ink-muted", *, indent: str = "", least: int = 1
) -> Content:
    """Return `a · b · c` with as many parts as fit, at least `least`; then the line is cut."""
    counts = range(len(parts), least - 1, -1)
    return longest_that_fits((line((indent + " · ".join(parts[:count]), style)) for count in counts), width)


def broken(text: str, width: int, most: int) -> list[str]:
    """Break `text` at every `width` characters (a query has no spaces) into at most `most` lines."""
    text, width = safe(text), max(1, width)
    if len(text) > width * most:
        text = f"{text[: max(0, width * most - 1)]}…"
    return [text[at : at + width] for at in range(0, len(text), width)] or [""]


def entitle(widget: Widget, title: Content | None = None, subtitle: Content | None = None) -> None:
    """Set a frame's title or subtitle if it differs: Textual repaints the widget at every assignment."""
    if title is not None and widget.border_title != title.markup:
        widget.border_title = title
    if subtitle is not None and widget.border_subtitle != subtitle.markup:
        widget.border_subtitle = subtitle


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` padded or cut (with an ellipsis) to exactly `width` cells."""
    text = safe(text)
    length = cell_len(text)
    if length > width:
        while text and cell_len(text) > width - 1:
            text = text[:-1]
        text += "…"
        length = cell_len(text)
    fill = " " * max(0, width - length)
    return fill + text if right else text + fill


def resource_runs(resource: str, style: str = "$foreground") -> tuple[Run, Run]:
    """Return the plural name, then the group: in a narrow column the group is cut."""
    plural, dot, group = resource.partition(".")
    return (plural, style), (f"{dot}{group}", "$ink-muted")


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
    shown: Callable[[float], str] | None = None,
    whole: bool = False,
    style: str | Callable[[Row], str] = "$foreground",
    loud: float = 0,
    loud_style: str = "bold $warning",  # bold too, for those who cannot see the colour
    aliases: tuple[str, ...] = (),
    hidden: bool = False,
) -> Column[Row]:
    """Return a column of counts, or of bytes with `unit` "B".

    `value` returns None while the value is unknown. `cell` replaces the default cell, `shown` only how its
    number is written; a `whole` number is shortened only where it does not fit. Numbers of at least `loud`
    are drawn in `loud_style`; 0 turns that off.
    """
    usual: Callable[[Any], str] = (
        partial(within, width=width) if whole else short_bytes if unit == "B" else short_count
    )
    written = shown or usual

    def default_cell(row: Row) -> Cell:
        number = value(row)
        if not number:
            return NOTHING
        quiet = style if isinstance(style, str) else style(row)
        return (written(number), loud_style if loud and number >= loud else quiet)

    return Column(
        name, title, cell or default_cell, value, width=width, align="right", priority=priority,
        descending=True, hidden=hidden, about=about, unit=unit, aliases=aliases,
    )  # fmt: skip
