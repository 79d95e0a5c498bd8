"""rich's console as a command wants it."""

from __future__ import annotations

from rich.console import Console


class Printer(Console):
    """Leaves a closed pipe to `main`: a reader that has had enough (`| head`) is no failure.

    rich's own would end the program with status 1, which says that the server answered an error.
    """

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
