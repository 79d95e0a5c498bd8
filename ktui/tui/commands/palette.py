"""The palette: all commands, and the places related to the row under the cursor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.tui.commands.command import Command
from ktui.tui.commands.table import COMMANDS
from ktui.tui.dashboard import Dashboard
from ktui.tui.navigation.related import related_places
from ktui.tui.screen_bases.mode_screen import ModeScreen

Entry = tuple[str, str, Callable[[], str | None]]  # title, description, action returning an error


class KtuiCommands(Provider):
    """Related places, screens, actions, versions, themes, resources."""

    @property
    def _dashboard(self) -> Dashboard:
        app = self.app
        assert isinstance(app, Dashboard)
        return app

    def _entries(self) -> Iterator[Entry]:
        app = self._dashboard
        if isinstance(self.screen, ModeScreen):
            mode = self.screen.MODE
            for item in related_places(self.screen.references(), app.state):
                if item.place.mode == mode:
                    continue
                yield f"Open {item.title}", item.about, partial(app.go_to, item.place)
        for command in COMMANDS.all(app):
            yield from _entries_of(app, command)

    async def discover(self) -> Hits:
        for title, about, run in self._entries():
            yield DiscoveryHit(title, self._runner(run), help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, about, run in self._entries():
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), self._runner(run), help=about)

    def _runner(self, run: Callable[[], str | None]) -> Callable[[], Awaitable[None]]:
        async def go() -> None:
            if problem := run():
                self.app.notify(problem, severity="warning", markup=False)

        return go


def _entries_of(app: Dashboard, command: Command) -> Iterator[Entry]:
    """Yield a command's entry; for the commands of `_LISTED` also one for each argument."""
    if not command.title:
        return
    listed = command.word in _LISTED
    if not listed or not command.needed:
        yield command.title + (" …" if listed else ""), command.about, partial(command.run, app, "")
    if listed:
        for item in command.candidates(app):
            yield f"{command.title} {item.text}", item.about, partial(command.run, app, item.text)


_LISTED = {"kube", "theme"}
