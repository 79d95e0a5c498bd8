"""Checks of a user's keymap: unknown ids, invalid keys and clashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from textual.binding import Binding, BindingType

from ktui.config.errors import InvalidEntry
from ktui.tui.keys.bindings import APP, DIALOGS, SCOPES
from ktui.tui.keys.hints import keys_in, long_name, usable, valid_key

LIKE_THESE = "write it like x, f2, ctrl+r or question_mark"


class Scope(NamedTuple):
    """The bindings of a screen or widget; `outer` are the app's, which they take precedence over."""

    name: str
    bindings: tuple[Binding, ...]
    outer: tuple[Binding, ...] = ()


def scopes() -> list[Scope]:
    """Return all groups of bindings that are active at the same time."""
    app = _bindings(APP)
    return [
        *(Scope(name, _bindings(own), () if name == "everywhere" else app) for name, own in SCOPES.items()),
        *(Scope(name, _bindings(own)) for name, own in DIALOGS.items()),
    ]


def _bindings(those: Iterable[BindingType]) -> tuple[Binding, ...]:
    return tuple(binding for binding in those if isinstance(binding, Binding))


def check_keymap(keymap: Mapping[str, str]) -> list[InvalidEntry]:
    """Return what is wrong with a keymap (binding id → keys, separated by commas)."""
    known = {binding.id for scope in scopes() for binding in scope.bindings if binding.id}
    found = []
    for id_ in (each for each in keymap if each not in known):
        near = get_close_matches(id_, sorted(known), n=1)
        meant = f"did you mean {near[0]!r}?" if near else "docs/keys.md lists them all"
        found.append(InvalidEntry(id_, f"no key is called {id_!r}; {meant}"))
    for id_, wanted in keymap.items():
        for key in keys_in(wanted):
            if not valid_key(key):
                problem = f"key {key!r} for {id_!r}: there is no such key; {LIKE_THESE}"
                found.append(InvalidEntry(id_, problem))
    return [*found, *_clashes({id_: keys for id_, keys in usable(keymap).items() if id_ in known})]


def _clashes(keymap: Mapping[str, str]) -> Iterator[InvalidEntry]:
    """Yield one entry for each key that a keymap gives to a binding while another one has it."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for scope in scopes():
        for id_, key, other in _pairs((*scope.bindings, *scope.outer), keymap):
            found.setdefault((id_, key), {}).setdefault(other, scope.name)
    reported: set[tuple[str, str, str]] = set()
    for (id_, key), others in found.items():
        fresh = {other: where for other, where in others.items() if (other, id_, key) not in reported}
        reported |= {(id_, other, key) for other in fresh}
        if fresh:
            taken = ", ".join(f"{other!r} ({where})" for other, where in fresh.items())
            text = f"key {key!r} for {id_!r} is bound to {taken} as well"
            yield InvalidEntry(id_, f"{text}: only one of them can act; give one another key")


def _pairs(bindings: Iterable[Binding], keymap: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (id in the keymap, key, another id with that key)."""
    having: dict[str, set[str]] = {}
    for binding in bindings:
        for key in keys_in(keymap.get(binding.id or "", binding.key)):
            if valid_key(key):
                having.setdefault(long_name(key), set()).add(binding.id or "")
    for key, ids in having.items():
        for id_ in sorted(ids & keymap.keys()):
            yield from ((id_, key, other) for other in sorted(ids - {id_}))
