"""Read TOML with limits: tomllib's memory grows with the square of a dotted key's length."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ktui.documents.limits import DocumentError, read_bytes

MOST_BYTES = 1 << 20
_MOST_DOTS = 1000  # per line: more levels than any table has, few enough to be fast


def read_toml_text(path: Path) -> str:
    """Return the text of a TOML file. Raises OSError and DocumentError."""
    data = read_bytes(path, MOST_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"it is not UTF-8 text: byte {error.start} cannot be read") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises DocumentError, with the line if known."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > _MOST_DOTS:
            raise DocumentError(f"line {number} has more than {_MOST_DOTS:,} dots: no key is that long")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise DocumentError("its arrays or tables nest too deeply") from None
    except ValueError as error:  # includes TOMLDecodeError, and a number of thousands of digits
        raise DocumentError(str(error)) from None
