"""Containers that paint only their background.

Textual paints a container line by line, border and padding, even where other widgets cover all of it.
"""

from __future__ import annotations

from textual.containers import Container, Horizontal, Vertical


class Area(Container):
    BLANK = True


class HorizontalArea(Horizontal):
    """An Area that lays out its children from left to right."""

    BLANK = True


class VerticalArea(Vertical):
    """An Area that lays out its children from top to bottom."""

    BLANK = True
