"""Names of keys: Textual's, and the shorter ones that a keymap may use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from textual.binding import Binding
from textual.keys import Keys

_MODIFIERS = {"ctrl", "alt", "shift", "super", "hyper", "meta"}
_NAMED = {key.value for key in Keys} | {f"f{number}" for number in range(1, 25)}


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
