"""A part of a screen that asks the server by itself."""

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
    """Stands on an ServerScreen."""

    class Failed(Message):
        """What it shows could not be read."""

        def __init__(self, problem: str) -> None:
            super().__init__()
            self.problem = problem

    @property
    def asking(self) -> ServerScreen:
        return cast(ServerScreen, self.screen)

    @property
    def ktui(self) -> Dashboard:
        return self.asking.ktui

    @property
    def server(self) -> KtuiApi:
        """The `/ktui/v1` API of the server. Raises ClientError without one."""
        return self.asking.server

    def ask_aside(self, asking: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Ask on, instead of what any pane of the screen worked on before."""
        self.asking.aside(asking, "selected")

    @staticmethod
    def say(table: VTable[Any], text: str) -> None:
        """Why there is no row."""
        if table.empty != text or table.total:
            table.empty = text
            table.set_rows(())
