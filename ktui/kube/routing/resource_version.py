"""Parse a resourceVersion as a client writes it."""

from __future__ import annotations

from ktui.kube.golang.numbers import NumError, parse_uint

MAX_REVISION = (1 << 63) - 1
"""etcd's revisions are signed. Go converts a larger resourceVersion to a negative number, which no revision
has."""


def parse_rv(text: str) -> int | None:
    """Return the number, 0 for unset, None if `text` is not an unsigned 64-bit number."""
    if not text:
        return 0
    try:
        return parse_uint(text)
    except NumError:
        return None
