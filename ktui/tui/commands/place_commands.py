"""Commands that open a screen, with an argument for what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, starmap

from ktui.core.format import integer, short_count
from ktui.core.references import (
    KeyRef,
    Place,
    PrefixRef,
    Read,
    Reference,
    RequestRef,
    ResourceRef,
    WatcherRef,
    read_selection,
)
from ktui.core.request_view import request_text
from ktui.core.state import State
from ktui.kube.resources import BUILTIN
from ktui.tui.commands.command import Candidates, Command, CommandError
from ktui.tui.dashboard import Dashboard
from ktui.tui.navigation.modes import MODES, Mode
from ktui.tui.prompt.prompt import Suggestion

RECENT = 50  # requests offered for completion


def mode_commands(modes: Sequence[Mode] = MODES) -> list[Command]:
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
        return ResourceRef(_resource_named(app, text))
    if mode in ("requests", "watches"):
        return _numbered(app, mode, text)
    if mode in ("lab", "versions"):
        return Read(read_selection(text))
    raise CommandError(f"{mode} takes no argument")


def key_or_prefix(text: str) -> Reference:
    """Return a reference to a prefix if `text` ends with a slash, else to a key."""
    return PrefixRef(text) if text.endswith("/") else KeyRef(text)


def _numbered(app: Dashboard, mode: str, text: str) -> Reference:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not number:
        raise CommandError(f"{text!r} is not a request number")
    if mode == "watches" and number not in app.state.watchers:
        raise CommandError(f"no WATCH {number} is open")
    if mode == "requests" and number not in app.state.requests:
        raise CommandError(_not_in_log(number, app.state))
    return WatcherRef(number) if mode == "watches" else RequestRef(number)


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
    app.go_to(Place("cache", ResourceRef(resource)))
