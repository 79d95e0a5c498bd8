"""The rich console that commands print tables with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

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


class ReportColumn(NamedTuple):
    """A column of a report. `narrowest` is the least width of the terminal at which it is shown.

    A cell of several lines is a sequence. `whole` is the width below which the column is not shrunk
    unless the terminal is narrow.
    """

    title: str
    cell: Callable[[Any], str | Sequence[str]]
    right: bool = False
    narrowest: int = 0
    whole: int = 0


number = partial(ReportColumn, right=True)
