"""A screen as a text that a diff shows: its lines, then the style of each span, then the colours by name.

A span is its first column and its style in the names of the theme: `12 bold accent on panel`. The background
is named where it changes within a line. So another colour in a theme changes one line at the end of a file,
and another word one line of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.app import App
from textual.color import Color as CssColor
from textual.strip import Strip

from ktui.tui.looks.themes import default_variables

FIELDS = ("background", "surface", "panel", "foreground", "primary", "secondary", "accent", "warning",
          "error", "success", "boost")  # fmt: skip
ATTRIBUTES = ("bold", "dim", "italic", "underline", "underline2", "overline", "strike", "reverse", "blink")
ON_SPACE = ("underline", "underline2", "overline", "strike", "reverse")  # seen where there is no letter


class GoldenExtension(SingleFileSnapshotExtension):
    """Stores each golden in a text file of its own."""

    _file_extension = "txt"
    _write_mode = WriteMode.TEXT


def golden(app: App[Any]) -> str:
    """The current screen of `app`: text, styles, colours."""
    width, height = app.size
    strips = [strip.crop(0, width) for strip in app.screen._compositor.render_strips()[:height]]
    palette = Palette(theme_colours(app))
    styles = [_styles(strip, palette) for strip in strips]
    return "\n".join(
        [
            *(strip.text.rstrip() for strip in strips),
            f"──── styles of {width}×{height} cells",
            *_numbered(styles),
            "──── colours",
            *palette.used,
            "",
        ]
    )


def theme_colours(app: App[Any]) -> dict[str, str]:
    """Names of the theme's colours by their hexadecimal value; of equal ones the first."""
    theme, variables = app.current_theme, app.get_css_variables()
    ours = {name: variables[name] for name in default_variables() if name in variables}
    own = {name: getattr(theme, name) for name in FIELDS} | ours | variables
    names: dict[str, str] = {}
    for name, value in own.items():
        if isinstance(value, str) and re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            names.setdefault(CssColor.parse(value).hex6.lower(), name)
    return names


class Palette:
    """Names colours, and keeps those that a screen has used."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self._seen: dict[str, str] = {}

    def name(self, colour: Color | None) -> str:
        """The theme's name of a colour, else its value; empty for none."""
        if colour is None or colour.is_default:
            return ""
        value = colour.triplet.hex if colour.triplet else colour.name
        name = self.names.get(value, value)
        self._seen[name] = value
        return name

    @property
    def used(self) -> list[str]:
        """`name value` of all colours named so far; those without a name stand in the styles already."""
        return [f"{name} {value}" for name, value in sorted(self._seen.items()) if name != value]


def _styles(strip: Strip, palette: Palette) -> str:
    """One line's spans, each with its first column."""
    spans, before, ground = [], ("", ""), None
    for column, ink, back in _runs(strip, palette):
        now = (ink if ink is not None else before[0], back)
        if now == before and spans:
            continue
        shown = ink or ""
        if back != ground:
            shown = f"{shown} on {back or 'nothing'}".strip()
        if shown or ink is not None:
            spans.append(f"{column} {shown or 'plain'}")
        before, ground = now, back
    return ", ".join(spans)


def _runs(strip: Strip, palette: Palette) -> Iterator[tuple[int, str | None, str]]:
    """Column, ink and background where a style begins; no ink where there is nothing to be seen of it."""
    column = 0
    for segment in strip:
        style = segment.style or Style.null()
        back = palette.name(style.bgcolor)
        lead = _blank(segment, style)
        if lead:
            yield column, None, back
        if lead < len(segment.text):
            words = [word for word in ATTRIBUTES if getattr(style, word)]
            yield column + lead, " ".join([*words, palette.name(style.color)]).strip(), back
        column += cell_len(segment.text)


def _blank(segment: Segment, style: Style) -> int:
    """How many characters at the beginning show nothing but their background."""
    if any(getattr(style, word) for word in ON_SPACE):
        return 0
    return len(segment.text) - len(segment.text.lstrip(" "))


def _numbered(styles: list[str]) -> Iterator[str]:
    """Lines with their number; equal ones that follow each other in one."""
    for text, group in groupby(enumerate(styles, 1), key=lambda numbered: numbered[1]):
        numbers = [number for number, _ in group]
        span = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
        yield f"{span:>5}  {text}"
