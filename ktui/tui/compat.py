"""All that reaches into Textual behind its public API; a test says when a release has changed that.

Nothing else in the dashboard may name what begins with an underscore there.
"""

from __future__ import annotations

from typing import Any

from textual._context import active_app
from textual.app import App
from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.screen import Screen
from textual.worker import WorkerFailed

_SOURCES = 4096  # classes and files, several times what there is


def running_app() -> App[Any] | None:
    """The app in whose handlers and renderings this is called; None outside of any."""
    return active_app.get(None)


class KeptStylesheet(Stylesheet):
    """Keeps what it has parsed until the colours change.

    Textual keeps the last 64 sources. The screens have more, so each new class of widgets, and
    each screen's first visit, would parse all of them anew.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(_SOURCES)

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse what is new: a source of another text counts as another source."""
        self.parse()


class QuietApp(App[int]):
    """An app that keeps what has broken it, for whoever runs it to tell.

    Textual would print the traceback with all local variables: tokens are among them.
    """

    crash: BaseException | None = None

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        self.crash = self.crash or cause
        super()._handle_exception(error)
        self._exit_renderables.clear()  # of an error that can render itself

    def _fatal_error(self) -> None:
        self.bell()
        self._close_messages_no_wait()


class WholeScreen(Screen[None]):
    """A screen whose first picture is a whole one: rendered once painting is allowed.

    While an app starts or changes screens nothing may be painted. Textual renders the new screen
    nevertheless, drops that picture, and then paints piece by piece what changes next.
    `call_after_refresh` does not wait for the first picture either: `Seen` tells of it.
    """

    class Seen(Message):
        """The screen's first picture is on the terminal."""

    _seen_before = False

    def _compositor_refresh(self) -> None:
        if self.app._batch_count:
            self.refresh()
            return
        super()._compositor_refresh()
        if not self._seen_before:
            self._seen_before = True
            self.post_message(self.Seen())
