"""The first frame: header, banner and footer, while the first mode's screen is imported and composed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Key, Paste

from ktui.tui.compat import WholeScreen, running_app
from ktui.tui.dashboard import OnDashboard
from ktui.tui.navigation.modes import Mode
from ktui.tui.widgets.banner import Banner
from ktui.tui.widgets.header import HeaderBar
from ktui.tui.widgets.key_bar import KeyBar


class FirstScreen(WholeScreen, OnDashboard):
    """Stands where the app's first screen will, until its own frame is on the terminal.

    Keys that come before are for that screen.
    """

    AUTO_FOCUS = ""

    def __init__(self, mode: Mode) -> None:
        super().__init__()
        self._mode = mode
        self._typed: list[Key | Paste] = []

    def compose(self) -> ComposeResult:
        yield HeaderBar()
        # No Area, whose background Textual paints as it is: with NO_COLOR, too.
        with Container(id="body"):
            yield Banner()
        yield KeyBar()

    def on_mount(self) -> None:
        app = self.ktui
        self.query_one(HeaderBar).show_state(
            app.state, app.link, app.paused, app.recording.sign, (self._mode.title,)
        )
        self.query_one(Banner).show_link(app.state, app.link, app.story_text)

    def on_key(self, event: Key) -> None:
        event.stop()
        self._typed.append(Key(event.key, event.character))

    def on_paste(self, event: Paste) -> None:
        event.stop()
        self._typed.append(Paste(event.text))

    @on(WholeScreen.Seen)
    def _open(self, event: WholeScreen.Seen) -> None:
        event.stop()  # the app begins to read telemetry with the next screen's
        self.app.call_later(self._open_next)

    async def _open_next(self) -> None:
        app = self.app
        await self.replace_by(self._mode.make())
        for event in self._typed:
            app.post_message(event)


def opening(mode: Mode) -> Callable[[], Any]:
    """Return a function that makes the mode's screen; for an app that has none yet, a FirstScreen."""

    def make() -> Any:
        app = running_app()
        return mode.make() if app is None or app.screen_stack else FirstScreen(mode)

    return make
