"""resourceVersion as a client writes it."""

from __future__ import annotations

_LARGEST = 2**64 - 1


def parse_rv(text: str) -> int | None:
    """The number, 0 for unset, None for anything that Go's ParseUint(s, 10, 64) refuses."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        return None
    number = int(text) if len(text) < 40 else _LARGEST + 1
    return number if number <= _LARGEST else None


def shown(text: str) -> str:
    """The value as the walk shows it."""
    return text if text else "unset"
