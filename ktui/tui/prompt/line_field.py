"""The input field of the prompt."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class LineField(Input):
    """An Input that is as wide as the line leaves it, whatever it holds.

    Textual's own lays out the whole screen at each letter, because its text has become longer.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
