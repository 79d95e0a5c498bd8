"""The exit codes of all commands. Other programs rely on them."""

from ktui.cli.output import warn

OK = 0
SERVER_ERROR = 1
FAILED = 1  # the command started, and could not be finished
USAGE = 2
NO_CONNECTION = 3
COMMAND_FAILED = 4  # the command that `ktui ci` ran
NOTHING_SENT = 5  # by that command
CRASHED = 70  # a bug in ktui: EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # by Ctrl-C, as in shells


def fail(message: str, status: int = NO_CONNECTION) -> int:
    """Print one sentence on standard error and return the exit code."""
    warn(message)
    return status
