"""Report unexpected errors (bugs in ktui): a message for the user, and the traceback in a file."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
import traceback
from pathlib import Path

from ktui import __version__
from ktui.cli.logs import log_path, stamp, without_secrets
from ktui.cli.output import CRASHED, fail
from ktui.config.places import state_home
from ktui.private_file import open_private

log = logging.getLogger("ktui")

FILE = "crash.log"
MOST_BYTES = 1_000_000  # then the file is overwritten
MOST_LETTERS = 300  # of an error's message


def report(error: BaseException) -> int:
    lines = [f"crashed (a bug in ktui): {_words(error)}"]
    package = Path(__file__).parents[1]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(package):
            lines.append(f"at ktui/{file.relative_to(package)}:{frame.lineno}, in {frame.name}")
            break
    try:
        lines.append(f"the traceback is in {note(error)}")
        lines.append(
            "to report it, attach that file and the output of `ktui info`: no password or token is in them"
        )
    except OSError as problem:
        lines.append(f"the traceback could not be saved: {problem.strerror}")
    return fail("\n  ".join(lines), CRASHED)


def note(error: BaseException) -> Path:
    """Write a traceback to the log, else to the crash file; return that file. Raises OSError."""
    if log_path() is not None:
        log.critical("crashed", exc_info=error)
    if (written := log_path()) is not None:  # logging may have failed with this message
        return written
    path = state_home(os.environ) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    grown = path.exists() and path.stat().st_size > MOST_BYTES
    descriptor = open_private(path, os.O_TRUNC if grown else os.O_APPEND)
    head = f"{stamp(time.time())} ktui {__version__}, Python {sys.version.split()[0]}, {sys.platform}"
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{head}\n{without_secrets(''.join(traceback.format_exception(error)))}\n")
    return path


def keep_quiet() -> None:
    """Log errors of threads and tasks instead of printing them: the terminal may show the dashboard."""
    threading.excepthook = lambda thread: _note_quietly(thread.exc_value)
    sys.unraisablehook = lambda destructor: _note_quietly(destructor.exc_value)
    logging.getLogger().addHandler(_Notes(logging.ERROR))


class _Notes(logging.Handler):
    """Writes tracebacks that asyncio and libraries log to the crash file, unless there is a --log-file."""

    def emit(self, record: logging.LogRecord) -> None:
        if log_path() is None and record.exc_info:
            _note_quietly(record.exc_info[1])


def _note_quietly(error: BaseException | None) -> None:
    if error is not None and not isinstance(error, SystemExit):
        with contextlib.suppress(OSError):
            note(error)


def _words(error: BaseException) -> str:
    """Return type and first line of an error, safe for a terminal: `RuntimeError: no frame`."""
    from ktui.core.format import safe  # start-up time

    first = next(iter(without_secrets(str(error)).splitlines()), "")
    text = safe(first if len(first) <= MOST_LETTERS else f"{first[: MOST_LETTERS - 1]}…")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
