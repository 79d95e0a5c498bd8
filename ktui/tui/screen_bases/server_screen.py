"""The base of screens that send requests to the server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.worker import Worker

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.source import Stage

if TYPE_CHECKING:
    from ktui.client.api import ApiClient


class ServerScreen(ModeScreen):
    """A mode whose requests fail with ClientError, in one sentence."""

    @property
    def client(self) -> ApiClient:
        client = self.ktui.client
        if client is None:
            raise ClientError(self.why_no_answer())
        return client

    @property
    def server(self) -> KtuiApi:
        """The `/ktui/v1` API of the server. Raises ClientError without one."""
        return KtuiApi(self.client)

    def why_no_answer(self) -> str:
        """Return why there is no client, in one sentence."""
        if self.ktui.link.stage is Stage.REPLAY:
            return "a recording has decisions and costs, not the objects"
        if self.ktui.link.stage is Stage.STOPPED:
            return "the server has stopped"
        if self.ktui.no_server:
            return self.ktui.no_server
        return "no server yet: this appears once one answers"

    def in_background(
        self, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = True
    ) -> Worker[None]:
        """Start a worker; `exclusive` cancels the group's earlier ones."""
        worker: Worker[None] = self.run_worker(work, group=group, exclusive=exclusive)
        return worker

    async def ask(self, path: str) -> Any:
        """GET `path` and return the JSON answer. Raises ClientError."""
        return await self.client.get_json(path)
