"""The input field of the prompt."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input


class LineField(Input):
    """An Input whose width does not depend on its text.

    Textual's Input lays out the whole screen at each letter, as its text grows.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
