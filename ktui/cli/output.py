"""What commands print, with control characters escaped, and their exit codes, which other programs rely on.

Nothing else in ktui prints (ruff's rule T20 checks that), except `printing.Printer` for tables.
"""

from __future__ import annotations

import os
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


# Exit codes.

OK = 0
SERVER_ERROR = 1
FAILED = 1  # the command started, and could not be finished
USAGE = 2
NO_CONNECTION = 3
COMMAND_FAILED = 4  # the command that `ktui ci` ran
NOTHING_SENT = 5  # by that command
CRASHED = 70  # a bug in ktui: EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # by Ctrl-C, as in shells

# Errors whose message is all that a user needs, by the name of their class: importing them takes time.
_STATUSES = {
    **dict.fromkeys(
        (
            "BehaviourError", "ClusterError", "ConfigError", "Declined", "LabelMatchersError", "ListenError",
            "PartialError", "PlanError", "RecordingError", "ReportError", "RequestError", "SizesError",
            "WorkloadError",
        ),
        USAGE,
    ),
    "ClientError": NO_CONNECTION,
}  # fmt: skip


def status_of(error: Exception) -> int:
    """Return the exit code of an error that says all in its message; 0 for any other."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next((_STATUSES[name] for name in names if name in _STATUSES), 0)


def fail(message: str, status: int = NO_CONNECTION) -> int:
    """Print one sentence on standard error and return the exit code."""
    warn(message)
    return status


def check_terminal() -> int:
    """Return OK if Textual can run: it reads standard input and draws on standard error."""
    in_a_page = bool(os.environ.get("TEXTUAL_DRIVER"))  # of `ktui web`
    if in_a_page or (os.isatty(0) and os.isatty(2)):
        return OK
    return fail(
        "screens need a terminal, as standard input and standard error; without one there is "
        "`ktui serve`, `ktui list`, and `ktui --screenshot FILE.svg`",
        USAGE,
    )
