"""Reading headers that a foreign server sends."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"-?[0-9]{1,18}")


def header_number(text: str) -> int:
    """The number in a header; 0 for what is none, or too large to be one."""
    return int(text) if _NUMBER.fullmatch(text := text.strip()) else 0
