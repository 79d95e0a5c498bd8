"""The base of all telemetry events."""

from __future__ import annotations

from typing import Annotated

import msgspec

# Limits for numbers from a recording or a foreign server: beyond them a number cannot be formatted,
# or is not a date. Integers are int64, as in Go: counts, bytes, revisions and ids.
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Difference = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
UnixTime = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]  # up to the year 9999
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True, gc=False):
    """Base of all events.

    They contain no cycles, so the garbage collector need not track them (`gc=False`).
    """

    seq: Count = 0
    at: UnixTime = 0.0
