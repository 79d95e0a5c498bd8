"""What sources of live figures have in common: a scraper of the server, or its Prometheus."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from ktui.contract.events import AnyEvent


class LiveFeed(Protocol):
    """`start` connects and gives the first events; `batches` goes on for `seconds`, None: for ever.

    All raise ClientError.
    """

    problem: str

    @property
    def warnings(self) -> list[str]: ...

    async def start(self) -> list[AnyEvent]: ...

    def batches(self, seconds: float | None = None) -> AsyncIterator[list[AnyEvent]]: ...

    async def close(self) -> None: ...
