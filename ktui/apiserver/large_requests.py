"""Limit the number of concurrent requests with large bodies, and so the memory of their documents."""

from __future__ import annotations

import asyncio

from ktui.kube.status import too_many_requests

AT_ONCE = 4
MOST_WAITING = 64


class LargeRequests:
    """Places for requests with large bodies; further ones wait, and beyond `most_waiting` are refused."""

    def __init__(self, at_once: int = AT_ONCE, most_waiting: int = MOST_WAITING) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._most_waiting = most_waiting
        self._waiting = 0

    async def enter(self) -> None:
        """Wait for a place; raise StatusError 429 if too many requests wait."""
        if self._waiting >= self._most_waiting:
            raise too_many_requests("Too many requests, please try again later.")
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Release the place for the next request."""
        self._places.release()
