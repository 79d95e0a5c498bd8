"""Durations on the command line, as kubectl writes them."""

from __future__ import annotations

import argparse
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m|h)?")
LONGEST = 24 * 3600.0


def seconds(text: str) -> float:
    """Parse `30s`, `5m`, `1h`, or a number of seconds. Raises ArgumentTypeError."""
    found = _DURATION.fullmatch(text.strip())
    value = float(found[1]) * _UNITS[found[2] or "s"] if found else 0.0
    if not 0 < value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a day: write it like 30s or 5m")
    return value
