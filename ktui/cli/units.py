"""Numbers for people."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes in powers of 1000: `812 B`, `4.1 kB`, `1.95 GB`, `12.0 TB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            digits = {"B": 0, "GB": 2}.get(unit, 1)
            return f"{count:.{digits}f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def duration(ms: float) -> str:
    """Milliseconds, or seconds from 10 s on."""
    return f"{ms / 1000:.1f} s" if ms >= 10_000 else f"{ms:,.1f} ms"


def times(factor: float) -> str:
    """`12×`, `1.5×`."""
    return f"{factor:,.0f}×" if factor >= 10 else f"{factor:.1f}×"
