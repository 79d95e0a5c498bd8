"""Help for the line being typed: hints and history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.suggester import Suggester


class Help(Protocol):
    """How a line can go on."""

    def completion(self, text: str) -> str:
        """The whole line as it could become, "" when there is no idea."""
        ...

    def hint(self, text: str) -> str:
        """What can come next, in a few words."""
        ...

    def popup(self) -> None:
        """F1, or `?` in an empty line: explain everything."""
        ...


class InputHistory(Protocol):
    """Lines typed before."""

    @property
    def walking(self) -> bool:
        """Whether one of them is shown now."""
        ...

    def begin(self) -> None:
        """Another line is typed."""
        ...

    def older(self, shown: str) -> str | None:
        """The one before what is shown, None where there is none."""
        ...

    def newer(self, shown: str) -> str | None:
        """The one after it."""
        ...

    def add(self, text: str) -> None:
        """A line was entered."""
        ...


class Completing(Suggester):
    """What stands dimmed behind the cursor."""

    def __init__(self, complete: Callable[[str], str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value) or None
