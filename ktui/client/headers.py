"""Parse numeric response headers of an untrusted server."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = re.compile(r"-?[0-9]{1,18}")


def header_number(text: str) -> int:
    """Return the number in a header; 0 if it is not a number, or too large."""
    return int(text) if _NUMBER.fullmatch(text := text.strip()) else 0


def retry_after(headers: Mapping[str, str]) -> int:
    """Return the seconds of Retry-After; 0 without it."""
    return max(0, header_number(headers.get("Retry-After", "")))
