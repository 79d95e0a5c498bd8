"""rich's console as a command wants it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ktui.printable import escaped


class Printer(Console):
    """The door for tables and coloured lines: no text in them controls the terminal.

    It leaves a closed pipe to `main`: a reader that has had enough (`| head`) is no failure.
    rich's own would end the program with status 1, which says that the server answered an error.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control is None and not segment.text.isprintable():
                segment = segment._replace(text=escaped(segment.text, "\n"))
            yield segment

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
