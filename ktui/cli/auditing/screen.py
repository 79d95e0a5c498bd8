"""`ktui audit --screen`: the report as screens."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import OK
from ktui.cli.terminal import check_terminal

if TYPE_CHECKING:
    from ktui.audit.build import Wish
    from ktui.audit.reading.files import Log
    from ktui.audit.tally import Tally
    from ktui.tui.audit.reading import Reading
    from ktui.tui.preferences import Preferences


def show(logs: list[Log], tally: Tally, wish: Wish, preferences: Preferences) -> int:
    """Read the logs and show their report on the screen until the user quits; return the exit status."""
    from ktui.tui.audit.reading import Reading  # start-up time

    return show_reading(Reading(lambda: nullcontext(logs), tally), wish, preferences)


def show_reading(reading: Reading, wish: Wish, preferences: Preferences) -> int:
    """Show any reading, also one that follows logs, until the user quits; return the exit status."""
    from ktui.tui.audit.app import AuditApp  # start-up time

    if (status := check_terminal()) != OK:
        return status
    app = AuditApp(reading, wish, preferences=preferences)
    status = app.run() or OK
    if app.crash is not None:
        from ktui.cli.crash import report  # start-up time

        return report(app.crash)
    return status


@contextmanager
def separate_keyboard(wanted: bool) -> Iterator[int]:
    """Make the terminal standard input, for the keys, and yield the descriptor of the piped log.

    Raises OSError if there is no terminal. Without `wanted` nothing changes, and 0 is yielded.
    """
    if not wanted or sys.stdin.isatty():
        yield 0
        return
    piped = os.dup(0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    try:
        yield piped
    finally:
        os.dup2(piped, 0)
        os.close(piped)
