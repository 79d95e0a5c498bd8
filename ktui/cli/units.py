"""Numbers for people."""

from __future__ import annotations


def size(count: float) -> str:
    """Bytes in powers of 1000: `812 B`, `4.1 kB`, `1.95 GB`."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"


def duration(ms: float) -> str:
    """Milliseconds, or seconds from 10 s on."""
    return f"{ms / 1000:.1f} s" if ms >= 10_000 else f"{ms:,.1f} ms"


def times(factor: float) -> str:
    """`12×`, `1.5×`."""
    return f"{factor:,.0f}×" if factor >= 10 else f"{factor:.1f}×"
