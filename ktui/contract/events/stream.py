"""The stream itself: gaps, and markers in a recording of it."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event


class Dropped(Event, frozen=True, kw_only=True, tag="dropped"):
    """This subscriber was too slow: `count` events were not sent to it."""

    count: Count


class Marker(Event, frozen=True, kw_only=True, tag="marker"):
    """A moment to find again: a user set it while recording, or the server injected a fault."""

    text: str = ""
