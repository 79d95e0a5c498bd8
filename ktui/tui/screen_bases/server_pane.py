"""A part of a screen that reads from the server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from textual.containers import Container
from textual.message import Message

from ktui.client.ktui_api import KtuiApi
from ktui.tui.dashboard import Dashboard
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.table.vtable import VTable


class ServerPane(Container):
    """A container on a ServerScreen."""

    class Failed(Message):
        """The pane's data could not be read."""

        def __init__(self, problem: str) -> None:
            super().__init__()
            self.problem = problem

    @property
    def server_screen(self) -> ServerScreen:
        return cast(ServerScreen, self.screen)

    @property
    def ktui(self) -> Dashboard:
        return self.server_screen.ktui

    @property
    def server(self) -> KtuiApi:
        """The `/ktui/v1` API of the server. Raises ClientError without one."""
        return self.server_screen.server

    def replace_read(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start `work`; it cancels what any pane of the screen was reading for the selected row."""
        self.server_screen.in_background(work, "selected")

    @staticmethod
    def say(table: VTable[Any], text: str) -> None:
        """Empty the table and show `text` as the reason."""
        if table.empty != text or table.total:
            table.empty = text
            table.set_rows(())
