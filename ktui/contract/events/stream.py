"""About the stream itself: gaps, and marks in a recording of it."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event


class Dropped(Event, frozen=True, kw_only=True, tag="dropped"):
    """This subscriber was too slow: `count` events were not sent to it."""

    count: Count


class Marker(Event, frozen=True, kw_only=True, tag="marker"):
    """A moment that a person marked while recording; no server sends it."""

    text: str = ""
