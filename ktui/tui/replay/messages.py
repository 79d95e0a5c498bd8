"""Messages of the scrub bar to the app."""

from __future__ import annotations

from textual.message import Message


class SeekRequested(Message):
    """The user has clicked on the track, or dragged its head, to a time (Unix seconds)."""

    def __init__(self, at: float) -> None:
        super().__init__()
        self.at = at
