"""The ways from what is under the cursor to other screens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote

from ktui.core.format import integer
from ktui.core.lab.form import LIST, WATCH, has_initial_events
from ktui.core.references import (
    KeyRef,
    Object,
    Place,
    PrefixRef,
    Read,
    Reference,
    RequestRef,
    ResourceRef,
    Revision,
    WatcherRef,
)
from ktui.core.selection import Selection, selection_of
from ktui.core.state import State
from ktui.kube.resources import BUILTIN

ROOT = "/registry"


@dataclass(frozen=True, slots=True)
class Way:
    """One way on: the letter that takes it, what it is called, what waits there."""

    letter: str
    title: str
    about: str
    place: Place


def ways(references: Iterable[Reference], state: State) -> list[Way]:
    """Everywhere that `references` lead, each place once, the most direct first."""
    found: dict[Place, Way] = {}
    letters: set[str] = set()
    for reference in implied(references, state):
        for way in _ways_of(reference, state):
            if way.place in found:
                continue
            letter = way.letter if way.letter not in letters else _free(letters)
            letters.add(letter)
            found[way.place] = Way(letter, way.title, way.about, way.place)
    return list(found.values())


def implied(references: Iterable[Reference], state: State) -> list[Reference]:
    """The references and all that they speak of themselves: a request of its object, an object of its key."""
    found: dict[Reference, None] = {}
    waiting = list(references)
    while waiting:
        reference = waiting.pop(0)
        if reference not in found:
            found[reference] = None
            waiting += _spoken_of(reference, state)
    return list(found)


def _spoken_of(reference: Reference, state: State) -> Iterator[Reference]:
    if isinstance(reference, RequestRef):
        yield from _of_request(reference, state)
    elif isinstance(reference, WatcherRef):
        yield RequestRef(reference.id)
    elif isinstance(reference, Object):
        if prefix := prefix_of(reference.resource, state):
            yield KeyRef(prefix + reference.text, reference.revision)
        yield ResourceRef(reference.resource)
    elif isinstance(reference, KeyRef):
        if (named := object_at(reference.key, state)) is not None:
            yield Object(named.resource, named.namespace, named.name, reference.revision)
    elif isinstance(reference, PrefixRef):
        if resource := resource_below(reference.prefix, state):
            yield ResourceRef(resource)
    elif isinstance(reference, ResourceRef) and (prefix := prefix_of(reference.id, state)):
        yield PrefixRef(prefix)


def _of_request(reference: RequestRef, state: State) -> Iterator[Reference]:
    row = state.requests.get(reference.id)
    if row is None:
        return
    if reference.id in state.watchers:
        yield WatcherRef(reference.id)
    if selection := selection_of(row, f"request {reference.id}"):
        yield Read(selection)
    started = row.started
    if started.resource and started.name:
        yield Object(started.resource, started.namespace, started.name)
    elif started.resource:
        yield ResourceRef(started.resource)


def _ways_of(reference: Reference, state: State) -> Sequence[Way]:
    match reference:
        case RequestRef(number):
            known = number in state.requests
            return [Way("r", "its request", f"Requests, {number}", Place("requests", reference))][
                : int(known)
            ]
        case WatcherRef(number):
            return [Way("w", "the watcher", f"Watches, {number}", Place("watches", reference))]
        case Object():
            about = f"Cache, {reference.resource} {reference.text}"
            return [Way("o", "the object in the cache", about, Place("cache", reference))]
        case ResourceRef(resource):
            return [Way("c", "the watch cache", f"Cache, {resource}", Place("cache", reference))]
        case KeyRef(key, revision, _):
            at = f" at revision {integer(revision)}" if revision else ""
            return [Way("e", "the key in etcd", f"{key}{at}", Place("etcd", reference))]
        case PrefixRef(prefix):
            return [Way("p", "the prefix in etcd", prefix, Place("etcd", reference))]
        case Read(selection):
            target = f"{selection.verb} {unquote(selection.target)}"
            versions = Way("v", "under every version", target, Place("versions", reference))
            lab = Way("l", "the Lab with this request", target, Place("lab", reference))
            return [lab, versions] if _for_the_lab(selection) else [versions]
        case _:
            return []


def _for_the_lab(selection: Selection) -> bool:
    return selection.verb == LIST or (selection.verb == WATCH and has_initial_events(selection.target))


def prefix_of(resource: str, state: State) -> str:
    """Where etcd keeps a resource (with a slash at the end), "" when that is not known."""
    for prefix in state.prefixes.values():
        if prefix.resource == resource:
            return prefix.prefix
    root = state.server.etcd_prefix.rstrip("/") if state.server is not None else ROOT
    known = BUILTIN.by_name(resource)
    return f"{root}/{known.prefix}" if known is not None and known.id == resource else ""


def resource_below(prefix: str, state: State) -> str:
    """The resource whose keys begin with `prefix`, or below whose prefix it lies; "" for none."""
    known = [each for each in state.prefixes.values() if each.resource and prefix.startswith(each.prefix)]
    if known:
        return max(known, key=lambda each: len(each.prefix)).resource
    root = (state.server.etcd_prefix.rstrip("/") if state.server is not None else ROOT) + "/"
    parts = prefix.removeprefix(root).strip("/").split("/") if prefix.startswith(root) else []
    for count in range(len(parts), 0, -1):
        found = BUILTIN.by_prefix("/".join(parts[:count]) + "/")
        if found is not None:
            return found.id
    return ""


def object_at(key: str, state: State) -> Object | None:
    """The object that a key holds, by its name alone."""
    resource = resource_below(key, state)
    prefix = prefix_of(resource, state) if resource else ""
    rest = key.removeprefix(prefix) if prefix and key.startswith(prefix) else ""
    namespace, slash, name = rest.partition("/")
    if not slash:
        namespace, name = "", namespace
    return Object(resource, namespace, name) if name and "/" not in name else None


def at_revision(revision: int, state: State) -> list[Reference]:
    """What telemetry has of one revision: fanned-out events, watches that begin there."""
    found: list[Reference] = []
    earlier = chain.from_iterable(state.earlier_fan_outs.values())
    for event in (*state.fan_outs.values(), *state.deletions.values(), *earlier):
        if event.rv == revision:
            found.append(Object(event.resource, event.namespace, event.name, revision))
    found += [WatcherRef(row.id) for row in state.watchers.values() if row.opened.since == str(revision)]
    answered = (row for row in state.requests.values() if row.finished is not None)
    found += [RequestRef(row.id) for row in answered if row.finished and row.finished.rv == str(revision)]
    return found


def _free(taken: set[str]) -> str:
    return next((letter for letter in "123456789abdfghimnstuxyz" if letter not in taken), "")


__all__ = ["Revision", "Way", "at_revision", "implied", "object_at", "prefix_of", "resource_below", "ways"]
