"""The base of screens that send requests to the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.worker import Worker

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.tui.compat import call_after
from ktui.tui.dashboard import OnDashboard
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.source import Stage
from ktui.tui.table.vtable import VTable

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

    def read_selected(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start `work`; it cancels what was being read for the row selected before."""
        self.in_background(work, "selected")


SETTLE = 0.12  # seconds without a move before a row is read: not once for every row passed


class ServerPane(Container, OnDashboard):
    """A container on a ServerScreen, with a table."""

    table: VTable[Any]
    _settling: asyncio.TimerHandle | None = None

    class Failed(Message):
        """The pane's data could not be read."""

        def __init__(self, problem: str) -> None:
            super().__init__()
            self.problem = problem

    def compose(self) -> ComposeResult:
        yield self.table

    @property
    def server_screen(self) -> ServerScreen:
        return cast(ServerScreen, self.screen)

    @property
    def server(self) -> KtuiApi:
        """The `/ktui/v1` API of the server. Raises ClientError without one."""
        return self.server_screen.server

    def once_settled(self, callback: Callable[[], object]) -> None:
        """Call back when no other call has come for SETTLE seconds; of several only the last counts."""
        if self._settling is not None:
            self._settling.cancel()
        self._settling = call_after(self, SETTLE, callback)

    def could_not_read(self, error: ClientError) -> None:
        """Empty the table, and post the reason."""
        self.say(self.table, "could not be read")
        self.post_message(self.Failed(str(error)))

    @staticmethod
    def say(table: VTable[Any], text: str) -> None:
        """Empty the table and show `text` as the reason."""
        if table.empty != text or table.total:
            table.empty = text
            table.set_rows(())
