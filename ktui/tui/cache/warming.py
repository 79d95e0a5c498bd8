"""Filling a cold cache, and giving that up."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from ktui.client.connection import ClientError
from ktui.tui.cache.rows import CacheLine
from ktui.tui.screens.asking import AskingScreen


class Warming:
    """Asks the server and says on the screen what came of it."""

    def __init__(self, screen: AskingScreen) -> None:
        self._screen = screen

    def warm(self, row: CacheLine) -> None:
        if row.cache.state != "cold":
            said = f"{row.resource} is {row.cache.state}: only a cold cache can be warmed"
            self._screen.notify(said, markup=False)
        else:
            self._fire("POST", row.resource, "warming")

    def cancel(self, row: CacheLine) -> None:
        self._fire("DELETE", row.resource, "cancelled the filling of")

    def _fire(self, method: str, resource: str, done: str) -> None:
        self._screen.aside(partial(self._ask, method, resource, done), "warm", exclusive=False)

    async def _ask(self, method: str, resource: str, done: str) -> None:
        path = f"/ktui/v1/caches/{quote(resource, safe='')}/warm"
        try:
            answer = await self._screen.client.request(method, path)
        except ClientError as error:
            self._fail(str(error))
            return
        if answer.is_success:
            self._screen.notify(f"{done} {resource}", markup=False)
        else:
            self._fail(f"{resource}: {answer.status_code} {answer.text[:200]}")

    def _fail(self, problem: str) -> None:
        self._screen.notify(problem, severity="error", markup=False)
