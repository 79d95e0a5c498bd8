"""Exit statuses, in one place: other programs rely on them."""

from ktui.cli.output import warn

OK = 0
SERVER_ERROR = 1
FAILED = 1  # what was asked for was begun, and could not be finished
USAGE = 2
NO_CONNECTION = 3
CRASHED = 70  # a mistake of ktui's own: EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # by Ctrl-C, as shells count signals


def fail(message: str, status: int = NO_CONNECTION) -> int:
    """Print one clear sentence on standard error and return the exit status."""
    warn(message)
    return status
