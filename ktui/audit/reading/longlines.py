"""Records that are too long: only their first and last bytes are kept."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 1 << 20
"""Bytes of a record beyond which only its two ends are kept."""
TAIL = 1 << 14


@dataclass(frozen=True, slots=True)
class LongLine:
    """A record longer than LONGEST: its first and its last bytes."""

    head: bytes
    tail: bytes
