"""Containers without a look of their own: nothing of them is drawn but a background.

Textual draws a container line by line, border and padding, though others cover all of it.
"""

from __future__ import annotations

from textual.containers import Container, Horizontal, Vertical


class Area(Container):
    BLANK = True


class Beside(Horizontal):
    """Widgets beside one another."""

    BLANK = True


class Below(Vertical):
    """Widgets below one another."""

    BLANK = True
