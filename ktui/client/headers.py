"""Parse headers from an untrusted server."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"-?[0-9]{1,18}")


def header_number(text: str) -> int:
    """The number in a header; 0 if it is not a number, or too large."""
    return int(text) if _NUMBER.fullmatch(text := text.strip()) else 0
