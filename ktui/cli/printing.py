"""The rich console that commands print tables with."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ktui.printable import escaped


class Printer(Console):
    """A console for tables and coloured lines that escapes control characters.

    It leaves a closed pipe (`| head`) to `main`, where it is no failure. rich's Console would end the
    program with status 1, which means that the server answered an error.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control is None and not segment.text.isprintable():
                segment = segment._replace(text=escaped(segment.text, "\n"))
            yield segment

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
