"""Messages of the scrub bar to the app."""

from __future__ import annotations

from textual.message import Message


class Sought(Message):
    """The track was clicked, or the head dragged, to a time (Unix seconds)."""

    def __init__(self, at: float) -> None:
        super().__init__()
        self.at = at
