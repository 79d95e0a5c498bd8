"""A user's keymap checked against the bindings there are: ids, keys, clashes, each a sentence."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from textual.app import App
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import ModalScreen

from ktui import tui
from ktui.config.errors import Problem
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import subclasses
from ktui.tui.keys.names import keys_in, long_name, usable, valid_key

_EVERYWHERE = "everywhere"
LIKE_THESE = "write it like x, f2, ctrl+r or question_mark"


@dataclass(frozen=True, slots=True)
class Scope:
    """What a screen or a widget binds. `reaches`: bindings further out that its keys would hide."""

    name: str
    bindings: tuple[Binding, ...]
    reaches: tuple[Binding, ...] = ()
    modal: bool = False


def check_keymap(keymap: Mapping[str, str]) -> list[Problem]:
    """What is wrong with a keymap (binding id → keys, comma separated)."""
    unknown = unknown_bindings(keymap)
    strangers = {problem.id for problem in unknown}
    known = {one: keys for one, keys in usable(keymap).items() if one not in strangers}
    return [*unknown, *_strange_keys(keymap), *_clashes(known)]


def unknown_bindings(keymap: Iterable[str]) -> list[Problem]:
    """Ids that no binding has."""
    known = {binding.id for scope in scopes() for binding in scope.bindings if binding.id}
    return [Problem(one, _unknown(one, known)) for one in keymap if one not in known]


def _unknown(one: str, known: Iterable[str]) -> str:
    near = get_close_matches(one, sorted(known), n=1)
    meant = f"did you mean {near[0]!r}?" if near else "docs/keys.md lists them all"
    return f"no key is called {one!r}; {meant}"


def _strange_keys(keymap: Mapping[str, str]) -> Iterator[Problem]:
    for one, wanted in keymap.items():
        for key in keys_in(wanted):
            if not valid_key(key):
                yield Problem(one, f"key {key!r} for {one!r}: there is no such key; {LIKE_THESE}")


def _clashes(keymap: Mapping[str, str]) -> Iterator[Problem]:
    """Keys that a keymap gives to a binding while another one has them, each said once."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for scope in scopes():
        for one, key, other in _pairs((*scope.bindings, *scope.reaches), keymap):
            found.setdefault((one, key), {}).setdefault(other, scope.name)
    told: set[frozenset[str]] = set()
    for (one, key), others in found.items():
        fresh = {other: where for other, where in others.items() if frozenset((one, other, key)) not in told}
        told |= {frozenset((one, other, key)) for other in fresh}
        if fresh:
            taken = ", ".join(f"{other!r} ({where})" for other, where in fresh.items())
            text = f"key {key!r} for {one!r} is bound to {taken} as well"
            yield Problem(one, f"{text}: only one of them can act; give one another key")


def _pairs(bindings: Iterable[Binding], keymap: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(id that the keymap names, key, another id that has it)."""
    having: dict[str, set[str]] = {}
    for binding in bindings:
        for key in _keys_of(binding, keymap):
            having.setdefault(key, set()).add(binding.id or "")
    for key, ids in having.items():
        for one in sorted(ids & keymap.keys()):
            yield from ((one, key, other) for other in sorted(ids - {one}))


def _keys_of(binding: Binding, keymap: Mapping[str, str]) -> list[str]:
    wanted = keymap.get(binding.id or "", binding.key)
    return [long_name(key) for key in keys_in(wanted) if valid_key(key)]


def keys_of_app() -> tuple[Binding, ...]:
    return _bindings(keys.APP)


def _bindings(those: Iterable[BindingType]) -> tuple[Binding, ...]:
    return tuple(one for one in those if isinstance(one, Binding))


def scopes() -> list[Scope]:
    """Every screen and widget that binds keys. Imports all screens: not before the first frame."""
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        import_module(module.name)
    app = keys_of_app()
    found = [Scope(_EVERYWHERE, (*app, *_bindings(keys.AFTER_A_JUMP)))]
    for node in sorted(subclasses(DOMNode), key=lambda each: (each.__module__, each.__name__)):
        if not issubclass(node, App) and _is_ours(node) and "BINDINGS" in vars(node):
            own = _bindings(node.BINDINGS)
            modal = issubclass(node, ModalScreen)
            found.append(Scope(_name_of(node), own, () if modal else app, modal))
    return found


def _is_ours(node: type[DOMNode]) -> bool:
    return node.__module__.startswith("ktui.tui.")


def _name_of(node: type[DOMNode]) -> str:
    return getattr(node, "MODE", "") or node.__name__
