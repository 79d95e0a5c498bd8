"""Events about the stream itself: gaps, and markers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ktui.contract.events.base import Count, Event


class Dropped(Event, frozen=True, kw_only=True, tag="dropped"):
    """This subscriber was too slow: `count` events were not sent to it."""

    count: Count


class Marker(Event, frozen=True, kw_only=True, tag="marker"):
    """A marked moment: set by a user while recording, by a workload, or by a server that injects faults."""

    text: str = ""


class MarkerRequest(msgspec.Struct, frozen=True):
    """Body of a request to publish a Marker."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
