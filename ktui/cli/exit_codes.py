"""The exit codes of all commands. Other programs rely on them."""

from __future__ import annotations

import os

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
