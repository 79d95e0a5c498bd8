"""What the prompt needs for hints and history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.suggester import Suggester


class Help(Protocol):
    """Hints for a line being typed."""

    def completion(self, text: str) -> str:
        """Return the completed line, "" without a completion."""
        ...

    def hint(self, text: str) -> str:
        """Return in a few words what can follow."""
        ...

    def popup(self) -> None:
        """Explain the syntax in a dialog (F1, or `?` in an empty line)."""
        ...


class InputHistory(Protocol):
    """Lines typed before; `LineHistory` describes the methods."""

    @property
    def browsing(self) -> bool:
        """True while an older line is shown."""
        ...

    def begin(self) -> None:
        """Start at the newest end, for a line that is opened."""
        ...

    def older(self, shown: str) -> str | None:
        """Return the previous line that differs from `shown`; None at the oldest."""
        ...

    def newer(self, shown: str) -> str | None:
        """Return the next line; None after the newest."""
        ...

    def add(self, text: str) -> None:
        """Add an entered line."""
        ...


class Completing(Suggester):
    """Suggests the completion that the Input shows dimmed after the cursor."""

    def __init__(self, complete: Callable[[str], str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value) or None
