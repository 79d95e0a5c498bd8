"""Whom the Lab fires at: ktui's own server, or a kube-apiserver of the user's kubeconfig."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from ktui.client.connection import ClientError
from ktui.client.target import KtuiTarget, Target
from ktui.core.lab.server import Elsewhere
from ktui.tui.keys.hints import key_of
from ktui.tui.lab.aim import Aim, AimScreen, contexts, take_aim
from ktui.tui.lab.desk import Desk


def busy_text() -> str:
    return f"one request at a time: {key_of('lab.stop')} stops the one that runs"


class Aiming:
    """`aim` is None for ktui's own server. While something is being fired no other aim is taken."""

    def __init__(self, desk: Desk, busy: Callable[[], bool]) -> None:
        self.aim: Aim | None = None
        self._desk = desk
        self._busy = busy

    @property
    def elsewhere(self) -> Elsewhere | None:
        return self.aim.elsewhere if self.aim is not None else None

    @property
    def server(self) -> str:
        """The context's name, "" for ktui's own server."""
        return self.aim.context if self.aim is not None else ""

    @property
    def target(self) -> Target:
        """Raises ClientError while there is no server."""
        return self.aim.target if self.aim is not None else KtuiTarget(self._desk.screen.client)

    def choose(self) -> None:
        """ktui's own server or a context of the user's kubeconfig."""
        self._run(self._choose)

    def aim_at(self, context: str) -> None:
        """A context's kube-apiserver, or ktui's own server ("")."""
        self._run(partial(self._aim_at, context))

    def _run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._desk.screen.aside(work, "aim")

    async def _choose(self) -> None:
        if self._busy():
            self._desk.say(busy_text())
            return
        try:
            names, current = await asyncio.to_thread(contexts)
        except ClientError as error:
            self._desk.warn(str(error))
            names, current = [], ""
        chosen = await self._desk.screen.app.push_screen_wait(AimScreen(names, current, self.server))
        if chosen is not None and chosen != self.server:
            await self._aim_at(chosen)

    async def _aim_at(self, chosen: str) -> None:
        try:
            aim = await take_aim(chosen) if chosen else None
        except ClientError as error:
            self._desk.fail(str(error))
            return
        if self.aim is not None:
            await self.aim.target.client.close()
        self.aim = aim
        for warning in aim.warnings if aim is not None else ():
            self._desk.warn(warning)
        self._desk.changed()
