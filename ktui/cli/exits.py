"""Exit statuses, in one place: other programs rely on them."""

import sys

OK = 0
SERVER_ERROR = 1
USAGE = 2
NO_CONNECTION = 3


def fail(message: str, status: int = NO_CONNECTION) -> int:
    """Print one clear sentence on standard error and return the exit status."""
    print(f"ktui: {message}", file=sys.stderr)
    return status
