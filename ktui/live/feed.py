"""The protocol of sources of live figures: a scraper of the server, or a Prometheus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from ktui.contract.events import AnyEvent


class LiveFeed(Protocol):
    """A source of live figures. All methods raise ClientError.

    `start` connects and returns the first events; `batches` yields more for `seconds` (None: without end).
    `refresh` asks for new figures before the interval is over.
    """

    problem: str

    @property
    def warnings(self) -> list[str]: ...

    async def start(self) -> list[AnyEvent]: ...

    def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]: ...

    def refresh(self) -> None: ...

    async def close(self) -> None: ...
