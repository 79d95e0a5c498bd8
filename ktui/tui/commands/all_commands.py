"""The commands that can be typed after `:` or chosen in the palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.core.references import Place, Read, read_selection
from ktui.tui.commands.command import Command
from ktui.tui.commands.place_commands import key_or_prefix, mode_commands, resource_commands
from ktui.tui.commands.setting_commands import ACTIONS, RECORDING, SETTINGS
from ktui.tui.dashboard import Dashboard
from ktui.tui.navigation.modes import LIVE_MODES, MODES, OWN_FLOW, find_mode
from ktui.tui.navigation.related import related_places
from ktui.tui.prompt.prompt import Suggestion
from ktui.tui.screen_bases.mode_screen import ModeScreen

SHOWN = 8  # suggestions


class Commands:
    """The commands of one app; with `whole`, a dashboard's, also every resource, path and key."""

    def __init__(self, fixed: Sequence[Command], *, whole: bool = True) -> None:
        self.fixed = tuple(fixed)
        self.whole = whole

    def all(self, app: Dashboard) -> Iterator[Command]:
        yield from self.fixed
        if self.whole:
            yield from resource_commands(app)

    def find(self, app: Dashboard, word: str) -> Command | None:
        """Return the command with this word, or of the screen that begins with it; None if unknown."""
        word = word.lower()
        known = next((item for item in self.all(app) if word in item.words), None)
        if known is None and self.whole and (mode := find_mode(word)) is not None:
            known = next((item for item in self.fixed if item.word == mode.name), None)
        return known

    def run(self, app: Dashboard, text: str) -> str:
        """Run what was typed. Return an error, "" if there is none."""
        word, _, rest = text.strip().partition(" ")
        if not word:
            return ""
        if self.whole and word.startswith("/"):
            return _PATH.run(app, text.strip())
        command = self.find(app, word)
        if command is None and self.whole:
            return f"no screen {word!r}; there are {', '.join(mode.name for mode in MODES)}"
        if command is None:
            return f"nothing is called {word!r} here; there are {', '.join(item.word for item in self.fixed)}"
        if command.needed and not rest.strip():
            return f"{command.word} what? {command.usage}"
        return command.run(app, rest.strip())

    def suggest(self, app: Dashboard, text: str) -> list[Suggestion]:
        """Return the lines that `text` may become, the best match first."""
        word, space, rest = text.lstrip().partition(" ")
        if space:
            command = self.find(app, word)
            return _arguments(app, command, word, rest.lstrip()) if command is not None else []
        found = sorted(((_rank(item, word), item) for item in self.all(app)), key=itemgetter(0))
        return [
            Suggestion(item.word, f"{item.about}  {item.argument}".rstrip(), more=item.needed)
            for rank, item in found[:SHOWN]
            if rank < 9
        ]


def _rank(command: Command, word: str) -> int:
    """Return how well a command matches, 0 best.

    0: its word; 1: the word's beginning; 2: an alias; 3: an alias' beginning; 4: in the word; 9: no match.
    """
    word = word.lower()
    if command.word == word:
        return 0
    if command.word.startswith(word):
        return 1
    if word in command.aliases:
        return 2
    if any(alias.startswith(word) for alias in command.aliases):
        return 3
    return 4 if word in command.word else 9


def _arguments(app: Dashboard, command: Command, word: str, rest: str) -> list[Suggestion]:
    begun: list[Suggestion] = []
    inside: list[Suggestion] = []
    typed = rest.lower()
    for item in command.candidates(app):
        text, whole = item.text.lower(), Suggestion(f"{word} {item.text}", item.about)
        if text.startswith(typed):
            begun.append(whole)
        elif typed in text or typed in item.about.lower():
            inside.append(whole)
        if len(begun) >= SHOWN:
            break
    return [*begun, *inside][:SHOWN]


def _open_path(app: Dashboard, text: str) -> None:
    """Open a key of etcd, or else a request's path. Raises RequestError."""
    root = app.state.server.etcd_prefix if app.state.server is not None else "/registry"
    is_key = text.startswith(f"{root.rstrip('/')}/")
    app.go_to(Place("etcd", key_or_prefix(text)) if is_key else Place("versions", Read(read_selection(text))))


_PATH = Command("/", "open a key or a request's path", _open_path)


COMMANDS = Commands([*mode_commands((*MODES, OWN_FLOW)), *ACTIONS, *SETTINGS, *RECORDING])
LIVE_COMMANDS = Commands([*mode_commands(LIVE_MODES), *ACTIONS, *SETTINGS, *RECORDING])


Entry = tuple[str, str, Callable[[], str | None]]  # title, description, action returning an error


class KtuiCommands(Provider):
    """Related places, screens, actions, versions, themes, resources."""

    def _entries(self) -> Iterator[Entry]:
        """Yield related places and the commands; those of `_LISTED` also for each argument."""
        app = self.app
        assert isinstance(app, Dashboard)
        if isinstance(self.screen, ModeScreen):
            for item in related_places(self.screen.references(), app.state):
                if item.place.mode != self.screen.MODE:
                    yield f"Open {item.title}", item.about, partial(app.go_to, item.place)
        for command in COMMANDS.all(app):
            listed, run = command.word in _LISTED, partial(command.run, app)
            if command.title and not (listed and command.needed):
                yield command.title + (" …" if listed else ""), command.about, partial(run, "")
            for each in command.candidates(app) if command.title and listed else ():
                yield f"{command.title} {each.text}", each.about, partial(run, each.text)

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
                self.app.notify(problem, severity="warning")

        return go


_LISTED = {"kube", "theme"}
