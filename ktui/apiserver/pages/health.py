"""/healthz, /livez, /readyz: plain text, with `?verbose` one line a check, as kube-apiserver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.router import Page

Check = tuple[str, Callable[[], bool]]


class Health:
    """`ready` are the checks that only /readyz makes, on top of `alive`."""

    def __init__(self, alive: list[Check], ready: list[Check]) -> None:
        self._alive = alive
        self._ready = ready

    async def healthz(self, request: Request, response: Response) -> None:
        await self._answer("healthz", self._alive, request, response)

    async def livez(self, request: Request, response: Response) -> None:
        await self._answer("livez", self._alive, request, response)

    async def readyz(self, request: Request, response: Response) -> None:
        await self._answer("readyz", [*self._alive, *self._ready], request, response)

    def single(self, name: str) -> dict[str, Page]:
        """A page for each check of /healthz, /livez or /readyz by itself."""
        checks = [*self._alive, *self._ready] if name == "readyz" else self._alive
        return {check: partial(self._one, name, check, passes) for check, passes in checks}

    async def _one(
        self, name: str, check: str, passes: Callable[[], bool], request: Request, response: Response
    ) -> None:
        if passes():
            await response.text(200, "ok")
        else:
            await response.text(500, f"internal server error: {name}: {check} failed\n")

    async def _answer(self, name: str, checks: list[Check], request: Request, response: Response) -> None:
        excluded = request.parameters().get("exclude", [])
        results = [(check, check in excluded or passes()) for check, passes in checks]
        if not all(passed for _, passed in results):
            await response.text(500, _report(results, excluded) + f"{name} check failed\n")
        elif "verbose" in request.parameters():
            await response.text(200, _report(results, excluded) + f"{name} check passed\n")
        else:
            await response.text(200, "ok")


def _report(results: list[tuple[str, bool]], excluded: list[str]) -> str:
    lines = []
    for check, passed in results:
        if check in excluded:
            lines.append(f"[+]{check} excluded: ok")
        else:
            lines.append(f"[+]{check} ok" if passed else f"[-]{check} failed: reason withheld")
    return "".join(f"{line}\n" for line in lines)
