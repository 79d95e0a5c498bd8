"""Write to standard output and standard error with control characters escaped.

Nothing else in ktui prints (ruff's rule T20 checks that), except `printing.Printer` for tables.
"""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

from ktui.printable import escaped, json_escaped

_REPLACE_LINE = "\r\033[K"
_OWN_COLOURS = "(\x1b\\[[0-9;]*m)"


def emit(text: str = "", *, coloured: bool = False, flush: bool = False) -> None:
    """Print lines on standard output. With `coloured`, ktui's colour sequences are not escaped."""
    parts = re.split(_OWN_COLOURS, text) if coloured else [text]
    parts[::2] = [escaped(part, "\n\t") for part in parts[::2]]
    _write(sys.stdout, "".join(parts) + "\n", flush=flush)


def emit_json(document: Any, *, indent: int | None = None) -> None:
    import json  # start-up time

    emit_json_text(json.dumps(document, indent=indent, ensure_ascii=False))


def emit_json_text(text: str, *, flush: bool = False) -> None:
    _write(sys.stdout, json_escaped(text) + "\n", flush=flush)


def warn(message: str) -> None:
    """Print a sentence on standard error, after the program's name."""
    tell(f"ktui: {message}")


def tell(text: str, out: TextIO | None = None) -> None:
    """Print lines on standard error, or on `out`."""
    _write(out or sys.stderr, escaped(text, "\n\t") + "\n", flush=True)


def ask(question: str) -> None:
    """Print a question on standard error without a newline: the answer is typed after it."""
    _write(sys.stderr, escaped(f"ktui: {question}"), flush=True)


def progress(text: str) -> None:
    """Replace the current line of standard error, a terminal."""
    _write(sys.stderr, f"{_REPLACE_LINE}{escaped(text)}", flush=True)


def replace_line(text: str) -> None:
    """Replace the current line of standard output, a terminal."""
    _write(sys.stdout, f"{_REPLACE_LINE}{escaped(text)}", flush=True)


def _write(out: TextIO, text: str, *, flush: bool) -> None:
    out.write(text)
    if flush:
        out.flush()
