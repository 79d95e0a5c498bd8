"""Check that there is a terminal for the dashboard."""

from __future__ import annotations

import os

from ktui.cli.exit_codes import OK, USAGE, fail


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
