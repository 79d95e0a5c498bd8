"""The places that are related to the row under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from urllib.parse import unquote

from ktui.core import references as refs
from ktui.core.format import integer
from ktui.core.lab.form import LIST, WATCH, has_initial_events
from ktui.core.references import Object, Place, Reference
from ktui.core.state import State
from ktui.kube.resources import BUILTIN

_LETTERS = "123456789abdfghimnstuxyz"  # of further places of a kind


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A related place: the letter that opens it, its title, and a description."""

    letter: str
    title: str
    about: str
    place: Place


def related_places(references: Iterable[Reference], state: State) -> list[RelatedPlace]:
    """Return all places that `references` lead to, each once, the most direct first."""
    found: dict[Place, RelatedPlace] = {}
    letters: set[str] = set()
    for reference in implied(references, state):
        for item in _places_of(reference, state):
            if item.place in found:
                continue
            free = (letter for letter in (item.letter, *_LETTERS) if letter not in letters)
            lettered = found[item.place] = replace(item, letter=next(free, ""))
            letters.add(lettered.letter)
    return list(found.values())


def implied(references: Iterable[Reference], state: State) -> list[Reference]:
    """Return the references and those that follow from them: a request's object, an object's key."""
    found: dict[Reference, None] = {}
    waiting = list(references)
    while waiting:
        reference = waiting.pop(0)
        if reference not in found:
            found[reference] = None
            waiting += _implied_by(reference, state)
    return list(found)


def _implied_by(reference: Reference, state: State) -> Iterator[Reference]:
    if isinstance(reference, refs.RequestRef) and (row := state.requests.get(reference.id)) is not None:
        if reference.id in state.watchers:
            yield refs.WatcherRef(reference.id)
        if selection := refs.selection_of(row, f"request {reference.id}"):
            yield refs.Read(selection)
        started = row.started
        if started.resource and started.name:
            yield Object(started.resource, started.namespace, started.name)
        elif started.resource:
            yield refs.ResourceRef(started.resource)
    elif isinstance(reference, refs.WatcherRef):
        yield refs.RequestRef(reference.id)
    elif isinstance(reference, Object):
        if prefix := prefix_of(reference.resource, state):
            yield refs.KeyRef(prefix + reference.text, reference.revision)
        yield refs.ResourceRef(reference.resource)
    elif isinstance(reference, refs.KeyRef) and (named := object_at(reference.key, state)) is not None:
        yield Object(named.resource, named.namespace, named.name, reference.revision)
    elif isinstance(reference, refs.PrefixRef) and (resource := resource_below(reference.prefix, state)):
        yield refs.ResourceRef(resource)
    elif isinstance(reference, refs.ResourceRef) and (prefix := prefix_of(reference.id, state)):
        yield refs.PrefixRef(prefix)


def _places_of(reference: Reference, state: State) -> Sequence[RelatedPlace]:
    match reference:
        case refs.RequestRef(number):
            found = RelatedPlace("r", "its request", f"Requests, {number}", Place("requests", reference))
            return [found] if number in state.requests else []
        case refs.WatcherRef(number):
            return [RelatedPlace("w", "the watcher", f"Watches, {number}", Place("watches", reference))]
        case Object():
            about = f"Cache, {reference.resource} {reference.text}"
            return [RelatedPlace("o", "the object in the cache", about, Place("cache", reference))]
        case refs.ResourceRef(resource):
            return [RelatedPlace("c", "the watch cache", f"Cache, {resource}", Place("cache", reference))]
        case refs.KeyRef(key, revision, _):
            at = f" at revision {integer(revision)}" if revision else ""
            return [RelatedPlace("e", "the key in etcd", f"{key}{at}", Place("etcd", reference))]
        case refs.PrefixRef(prefix):
            return [RelatedPlace("p", "the prefix in etcd", prefix, Place("etcd", reference))]
        case refs.Read(selection):
            target = f"{selection.verb} {unquote(selection.target)}"
            versions = RelatedPlace("v", "under every version", target, Place("versions", reference))
            lab = RelatedPlace("l", "the Lab with this request", target, Place("lab", reference))
            whole = selection.verb == WATCH and has_initial_events(selection.target)
            return [lab, versions] if whole or selection.verb == LIST else [versions]
        case _:
            return []


def etcd_root(state: State) -> str:
    """Return the prefix of Kubernetes' keys, with a slash at the end."""
    return (state.server.etcd_prefix.rstrip("/") if state.server is not None else "/registry") + "/"


def prefix_of(resource: str, state: State) -> str:
    """Return the prefix in etcd of a resource's keys, with a slash at the end; "" if unknown."""
    for prefix in state.prefixes.values():
        if prefix.resource == resource:
            return prefix.prefix
    known = BUILTIN.by_name(resource)
    return etcd_root(state) + known.prefix if known is not None and known.id == resource else ""


def resource_below(prefix: str, state: State) -> str:
    """Return the resource of the keys below `prefix`, or of the prefix that it is in; "" if unknown."""
    known = [each for each in state.prefixes.values() if each.resource and prefix.startswith(each.prefix)]
    if known:
        return max(known, key=lambda each: len(each.prefix)).resource
    root = etcd_root(state)
    parts = prefix.removeprefix(root).strip("/").split("/") if prefix.startswith(root) else []
    for count in range(len(parts), 0, -1):
        found = BUILTIN.by_prefix("/".join(parts[:count]) + "/")
        if found is not None:
            return found.id
    return ""


def object_at(key: str, state: State) -> Object | None:
    """Return the object that a key should hold, by its name; None if the key names none."""
    resource = resource_below(key, state)
    prefix = prefix_of(resource, state) if resource else ""
    rest = key.removeprefix(prefix) if prefix and key.startswith(prefix) else ""
    namespace, slash, name = rest.partition("/")
    if not slash:
        namespace, name = "", namespace
    return Object(resource, namespace, name) if name and "/" not in name else None


def at_revision(revision: int, state: State) -> list[Reference]:
    """Return what telemetry has of a revision: fanned-out events, watches and answers with it."""
    found: list[Reference] = []
    earlier = chain.from_iterable(state.earlier_fan_outs.values())
    for event in (*state.fan_outs.values(), *state.deletions.values(), *earlier):
        if event.rv == revision:
            found.append(Object(event.resource, event.namespace, event.name, revision))
    rv = str(revision)
    found += [refs.WatcherRef(row.id) for row in state.watchers.values() if row.opened.since == rv]
    answered = (row for row in state.requests.values() if row.finished and row.finished.rv == rv)
    found += [refs.RequestRef(row.id) for row in answered]
    return found
