"""The commands that can be typed after `:` or chosen in the palette, and those that open a screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, starmap
from operator import itemgetter

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.core import references as refs
from ktui.core.format import integer, short_count
from ktui.core.references import Place, Read, Reference, read_selection
from ktui.core.request_view import request_text
from ktui.core.state import State
from ktui.kube.resources import BUILTIN
from ktui.tui.commands.setting_commands import ACTIONS, RECORDING, SETTINGS, Candidates, Command, CommandError
from ktui.tui.dashboard import Dashboard
from ktui.tui.navigation.modes import LIVE_MODES, MODES, OWN_FLOW, Mode, find_mode
from ktui.tui.navigation.related import etcd_root, related_places
from ktui.tui.prompt.prompt import Suggestion
from ktui.tui.screen_bases.mode_screen import ModeScreen

SHOWN = 8  # suggestions
NO_MATCH = 9
RECENT = 50  # requests offered for completion


def mode_commands(modes: Sequence[Mode]) -> list[Command]:
    """Return a command for each screen; its argument selects what the screen shows."""
    made = []
    for mode in modes:
        argument, candidates = _ARGUMENTS.get(mode.name, ("", lambda app: ()))
        made.append(
            Command(mode.name, mode.about, partial(_open, mode.name), argument, candidates=candidates,
                    aliases=(str(mode.number), *mode.aliases), title=f"Go to {mode.title}")
        )  # fmt: skip
    return made


def _open(mode: str, app: Dashboard, rest: str) -> None:
    if rest:
        app.go_to(Place(mode, _reference(app, mode, rest)))
    else:
        app.call_later(app.run_action, f"go('{mode}')")


def _reference(app: Dashboard, mode: str, text: str) -> Reference:
    """Return the reference to what `text` names on a screen. Raises CommandError, RequestError."""
    if mode == "etcd":
        return key_or_prefix(text)
    if mode == "cache":
        return refs.ResourceRef(_resource_named(app, text))
    if mode in ("requests", "watches"):
        return _numbered(app, mode, text)
    if mode in ("lab", "versions"):
        return Read(read_selection(text))
    raise CommandError(f"{mode} takes no argument")


def key_or_prefix(text: str) -> Reference:
    """Return a reference to a prefix if `text` ends with a slash, else to a key."""
    return refs.PrefixRef(text) if text.endswith("/") else refs.KeyRef(text)


def _numbered(app: Dashboard, mode: str, text: str) -> Reference:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise CommandError(f"{text!r} is not a request number")
    if mode == "watches" and number not in app.state.watchers:
        raise CommandError(f"no WATCH {number} is open")
    if mode == "requests" and number not in app.state.requests:
        raise CommandError(_not_in_log(number, app.state))
    return refs.WatcherRef(number) if mode == "watches" else refs.RequestRef(number)


def _not_in_log(number: int, state: State) -> str:
    """Return why there is no such request: only an older number can have been dropped."""
    if not state.requests:
        return f"there is no request {number}: the log is empty"
    first, last = min(state.requests), max(state.requests)
    if number > last:
        return f"there is no request {number} yet: the newest is {last}"
    if number < first:
        return f"request {number} is no longer in the log, which begins at {first}"
    return f"request {number} is not in the log"


def _resource_named(app: Dashboard, text: str) -> str:
    """Return a resource's id by any name that kubectl accepts. Raises CommandError."""
    word = text.strip().lower()
    state = app.state
    held = {prefix.resource for prefix in state.prefixes.values() if prefix.resource} | state.caches.keys()
    if word in held:
        return word
    known = BUILTIN.by_name(word)
    if known is not None and (known.id in held or not held):
        return known.id
    plural = [each for each in held if each.partition(".")[0] == word]
    if plural:
        return min(plural)
    raise CommandError(f"etcd holds no resource {text.strip()!r}")


# Candidates for the arguments.


def resources(app: Dashboard) -> Iterator[Suggestion]:
    """Yield the resources in etcd, those with most objects first."""
    state = app.state
    counts = {prefix.resource: prefix.count for prefix in state.prefixes.values() if prefix.resource}
    for resource, row in state.caches.items():
        counts[resource] = max(counts.get(resource, 0), row.cache.objects)
    for resource in sorted(counts, key=lambda each: (-counts[each], each)):
        cache = state.caches.get(resource)
        kept = cache.cache.state if cache is not None else "cold"
        yield Suggestion(resource, f"{short_count(counts[resource])} objects, cache {kept}")


def _keys(app: Dashboard) -> Iterator[Suggestion]:
    for prefix in sorted(app.state.prefixes.values(), key=lambda each: each.prefix):
        yield Suggestion(prefix.prefix, f"{short_count(prefix.count)} keys")
    for key in app.keys_seen:
        yield Suggestion(key, "seen before")


def _requests(app: Dashboard) -> Iterator[Suggestion]:
    for row in islice(reversed(app.state.requests.values()), RECENT):
        yield Suggestion(str(row.id), f"{row.started.client} {request_text(row)}")


def _watchers(app: Dashboard) -> Iterator[Suggestion]:
    for row in app.state.watchers.values():
        about = f"{row.opened.client} WATCH {row.resource}, {integer(row.delivered)} sent"
        yield Suggestion(str(row.id), about)


def _paths(app: Dashboard) -> Iterator[Suggestion]:
    seen: dict[str, str] = {}
    for row in reversed(app.state.requests.values()):
        if row.started.verb == "LIST" and len(seen) < RECENT:
            seen.setdefault(row.target, f"sent by {row.started.client}")
    yield from starmap(Suggestion, seen.items())


_ARGUMENTS: dict[str, tuple[str, Candidates]] = {
    "requests": ("[ID]", _requests),
    "cache": ("[RESOURCE]", resources),
    "etcd": ("[KEY or PREFIX/]", _keys),
    "lab": ("[PATH?QUERY]", _paths),
    "watches": ("[ID]", _watchers),
    "versions": ("[PATH?QUERY]", _paths),
}


def resource_commands(app: Dashboard) -> Iterable[Command]:
    """Yield a command for each resource, which opens its cache."""
    for candidate in resources(app):
        name = candidate.text
        known = BUILTIN.by_name(name)
        short = known.short_names if known is not None and known.id == name else ()
        plural = (name.partition(".")[0],) if "." in name else ()
        opens, aliases = partial(_to_cache, name), (*plural, *short)
        yield Command(name, candidate.about, opens, aliases=aliases, title=f"Cache: {name}")


def _to_cache(resource: str, app: Dashboard, rest: str) -> None:
    if rest:
        raise CommandError(f"{resource} takes no argument")
    app.go_to(Place("cache", refs.ResourceRef(resource)))


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
            if rank < NO_MATCH
        ]


def _rank(command: Command, word: str) -> int:
    """Return how well a command matches: 0 best, NO_MATCH not at all."""
    word = word.lower()
    matches = (
        command.word == word,
        command.word.startswith(word),
        word in command.aliases,
        any(alias.startswith(word) for alias in command.aliases),
        word in command.word,
    )
    return matches.index(True) if True in matches else NO_MATCH


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
    is_key = text.startswith(etcd_root(app.state))
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
