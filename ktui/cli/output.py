"""The doors to standard output and standard error: no foreign text that passes controls the terminal.

Nothing else in ktui prints (ruff's T20 rule holds that); `printing.Printer` is the door for tables.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

from ktui.printable import escaped, json_escaped

_REPLACE_LINE = "\r\033[K"
_OWN_COLOURS = re.compile("(\x1b\\[[0-9;]*m)")


def emit(text: str = "", *, coloured: bool = False, flush: bool = False) -> None:
    """Lines on standard output. `coloured`: its colours are ktui's own, everything else is escaped."""
    parts = _OWN_COLOURS.split(text) if coloured else [text]
    parts[::2] = [escaped(part, "\n\t") for part in parts[::2]]
    _write(sys.stdout, "".join(parts) + "\n", flush=flush)


def emit_json(document: Any, *, indent: int | None = None) -> None:
    """A document as JSON on standard output."""
    emit_json_text(json.dumps(document, indent=indent, ensure_ascii=False))


def emit_json_text(text: str, *, flush: bool = False) -> None:
    """JSON that has been made already, on standard output."""
    _write(sys.stdout, json_escaped(text) + "\n", flush=flush)


def warn(message: str) -> None:
    """A sentence for people on standard error, after the program's name."""
    tell(f"ktui: {message}")


def tell(text: str, out: TextIO | None = None) -> None:
    """Lines on standard error, or where else is said."""
    _write(out or sys.stderr, escaped(text, "\n\t") + "\n", flush=True)


def ask(question: str) -> None:
    """A question on standard error; the answer is typed behind it."""
    _write(sys.stderr, escaped(f"ktui: {question}"), flush=True)


def progress(text: str) -> None:
    """Replace the line under the cursor of the terminal that is standard error."""
    _write(sys.stderr, f"{_REPLACE_LINE}{escaped(text)}", flush=True)


def replace_line(text: str) -> None:
    """Replace the line under the cursor of the terminal that is standard output."""
    _write(sys.stdout, f"{_REPLACE_LINE}{escaped(text)}", flush=True)


def _write(out: TextIO, text: str, *, flush: bool) -> None:
    out.write(text)
    if flush:
        out.flush()
