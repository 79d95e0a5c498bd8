"""resourceVersion as a client writes it."""

from __future__ import annotations

from ktui.kube.golang.numbers import NumError, parse_uint


def parse_rv(text: str) -> int | None:
    """The number, 0 for unset, None for what is no unsigned 64-bit number."""
    if not text:
        return 0
    try:
        return parse_uint(text)
    except NumError:
        return None


def shown(text: str) -> str:
    """The value as the walk shows it."""
    return text if text else "unset"
