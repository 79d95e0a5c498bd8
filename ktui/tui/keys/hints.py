"""The keys that texts name, as bound now: a keymap may have changed them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain

from textual.binding import Binding
from textual.content import Content
from textual.keys import Keys, format_key

from ktui.tui.compat import running_app
from ktui.tui.keys.bindings import DIALOGS, SCOPES

_MODIFIERS = {"ctrl", "alt", "shift", "super", "hyper", "meta"}
_FUNCTION_KEYS = {f"f{number}" for number in range(1, 25)}
_NAMED = {key.value for key in Keys} | _FUNCTION_KEYS


def keys_in(text: str) -> list[str]:
    """Return the keys of a keymap's entry, `f2, ctrl+r`. The comma key is `comma`."""
    return [key.strip() for key in text.split(",")]


def valid_key(key: str) -> bool:
    """Return True for a key that a terminal can send: `f2`, `ctrl+r`, `question_mark`, `?`."""
    if len(key) == 1:
        return key.isprintable() and key != ","
    *modifiers, last = key.split("+")
    named = last in _NAMED or last in _characters()
    return (named or len(last) == 1) and all(modifier in _MODIFIERS for modifier in modifiers)


def long_name(key: str) -> str:
    """Return Textual's name of a key: `question_mark` for `?`."""
    return next(item.key for item in Binding.make_bindings([Binding(key, "")]))


@cache
def _characters() -> frozenset[str]:
    return frozenset({"comma"} | {long_name(chr(code)) for code in range(0x21, 0x7F) if chr(code) != ","})


def usable(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the entries with valid keys; `check_keymap` reports the others."""
    return {item: keys for item, keys in keymap.items() if all(valid_key(key) for key in keys_in(keys))}


def key_of(binding_id: str) -> str:
    """Return a binding's key as texts write it: `w`, `?`, `enter`, `F2`.

    The first of several keys; without the key of the other direction that the footer adds (`,.`).
    Raises KeyError for an unknown id.
    """
    preferences = getattr(running_app(), "preferences", None)
    moved = usable(preferences.keymap) if preferences is not None else {}
    return written(keys_in(moved.get(binding_id, _by_id()[binding_id].key))[0])


def key_hints(*keys: tuple[str, str]) -> Content:
    """Return `esc closes · c copies` for pairs of a binding's id and what its key does."""
    return Content(" · ".join(f"{key_of(binding_id)} {does}" for binding_id, does in keys))


def written(key: str) -> str:
    """Return a key as texts write it: `?`, `ctrl+w`, `F9`; "enter" in words: not every font has its sign."""
    *modifiers, last = key.split("+")
    shown = last if last == "enter" else last.upper() if last in _FUNCTION_KEYS else format_key(last)
    return "+".join([*modifiers, shown])


@cache
def _by_id() -> dict[str, Binding]:
    every = chain.from_iterable((*SCOPES.values(), *DIALOGS.values()))
    return {binding.id: binding for binding in every if isinstance(binding, Binding) and binding.id}
