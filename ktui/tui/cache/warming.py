"""Fills a cold cache, or cancels that."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ktui.client.connection import ClientError
from ktui.tui.cache.rows import CacheLine
from ktui.tui.screen_bases.server_screen import ServerScreen


class Warming:
    """Sends the requests, and notifies of their results."""

    def __init__(self, screen: ServerScreen) -> None:
        self._screen = screen

    def warm(self, row: CacheLine) -> None:
        if row.cache.state != "cold":
            text = f"{row.resource} is {row.cache.state}: only a cold cache can be warmed"
            self._screen.notify(text, markup=False)
        else:
            self._start(partial(self._warm, row.resource))

    def cancel(self, row: CacheLine) -> None:
        self._start(partial(self._cancel, row.resource))

    def _start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._screen.in_background(work, "warm", exclusive=False)

    async def _warm(self, resource: str) -> None:
        with self._errors_shown():
            await self._screen.server.warm(resource)
            self._screen.notify(f"warming {resource}", markup=False)

    async def _cancel(self, resource: str) -> None:
        with self._errors_shown():
            await self._screen.server.cancel_warming(resource)
            self._screen.notify(f"cancelled the warming of {resource}", markup=False)

    @contextmanager
    def _errors_shown(self) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            self._screen.notify(str(error), severity="error", markup=False)
