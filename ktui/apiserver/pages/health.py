"""/healthz, /livez, /readyz: plain text, with `?verbose` one line per check, as kube-apiserver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import Page


@dataclass(frozen=True, slots=True)
class Check:
    """A line of the response. `failure` returns why the check fails, "" if it passes.

    kube-apiserver withholds the reason; ktui's own checks show it (`shown`).
    """

    name: str
    failure: Callable[[], str]
    shown: bool = False


class HealthPages:
    """The health endpoints. /readyz has the checks `ready` in addition to `alive`."""

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
        """Return a page for each single check of /healthz, /livez or /readyz."""
        checks = [*self._alive, *self._ready] if name == "readyz" else self._alive
        return {check.name: partial(self._one, name, check) for check in checks}

    async def _one(self, name: str, check: Check, request: Request, response: Response) -> None:
        failure = check.failure()
        if not failure:
            await response.text(200, "ok")
        else:
            reason = failure if check.shown else f"{check.name} failed"
            await response.text(500, f"internal server error: {name}: {reason}\n")

    async def _answer(self, name: str, checks: list[Check], request: Request, response: Response) -> None:
        excluded = request.parameters.get("exclude", [])
        failures = {check: "" if check.name in excluded else check.failure() for check in checks}
        if any(failures.values()):
            await response.text(500, _report(failures, excluded) + f"{name} check failed\n")
        elif "verbose" in request.parameters:
            await response.text(200, _report(failures, excluded) + f"{name} check passed\n")
        else:
            await response.text(200, "ok")


def _report(failures: dict[Check, str], excluded: list[str]) -> str:
    lines = []
    for check, failure in failures.items():
        if check.name in excluded:
            lines.append(f"[+]{check.name} excluded: ok")
        elif failure:
            lines.append(f"[-]{check.name} failed: {failure if check.shown else 'reason withheld'}")
        else:
            lines.append(f"[+]{check.name} ok")
    return "".join(f"{line}\n" for line in lines)
