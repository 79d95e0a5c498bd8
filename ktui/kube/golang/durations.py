"""Durations as Go reads and writes them: `10s`, `1m30s`, `1.5h`, `0`."""

from __future__ import annotations

import re

from ktui.kube.golang.quoting import quote

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NUMBER_ONLY = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)$")


def parse_duration(text: str) -> float:
    """Return the duration in seconds; raise ValueError with Go's message."""
    sign, rest = (-1.0 if text[:1] == "-" else 1.0), text.lstrip("+-") if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            break
        total += float(part[1]) * _SECONDS[part[2]]
        at = part.end()
    if at == 0 or at < len(rest):
        what = "missing unit in duration" if _NUMBER_ONLY.match(rest, at) else "invalid duration"
        raise ValueError(f"time: {what} {quote(text)}")
    return sign * total


def format_duration(seconds: float) -> str:
    """Format a duration as Duration.String does, to the nanosecond: `1h2m3.5s`, `1.926865ms`, `929.214µs`,
    `0s`.
    """
    ns = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 and ns else ""
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if ns < size * 1000:
            return f"{sign}{_decimal(ns, size)}{unit}" if ns else "0s"
    hours, rest = divmod(ns, 3_600_000_000_000)
    minutes, rest = divmod(rest, 60_000_000_000)
    above = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{above}{_decimal(rest, 1_000_000_000)}s"


def _decimal(number: int, size: int) -> str:
    """Format `number` / `size` without trailing zeros; `size` is a power of ten."""
    whole, part = divmod(number, size)
    digits = str(part).rjust(len(str(size)) - 1, "0").rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
