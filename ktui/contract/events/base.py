"""What all telemetry events have in common."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """Base of all events: without cycles, so that the garbage collector need not look at them."""

    seq: int = 0
    at: float = 0.0
