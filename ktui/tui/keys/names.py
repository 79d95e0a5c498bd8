"""The names of keys, as a terminal sends them and as a keymap may write them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from textual.binding import Binding
from textual.keys import Keys

_MODIFIERS = {"ctrl", "alt", "shift", "super", "hyper", "meta"}
_NAMED = {key.value for key in Keys} | {f"f{number}" for number in range(1, 25)}


def keys_in(text: str) -> list[str]:
    """The keys of one entry of a keymap: `f2, ctrl+r`. A comma itself is `comma`."""
    return [key.strip() for key in text.split(",")]


def valid_key(key: str) -> bool:
    """Whether a terminal can send a key of that name: `f2`, `ctrl+r`, `question_mark`, `?`."""
    if len(key) == 1:
        return key.isprintable() and key != ","
    *modifiers, last = key.split("+")
    named = last in _NAMED or last in _characters()
    return (named or len(last) == 1) and all(modifier in _MODIFIERS for modifier in modifiers)


def long_name(key: str) -> str:
    """`?` as `question_mark`: the name under which Textual reports a key."""
    return next(item.key for item in Binding.make_bindings([Binding(key, "")]))


@cache
def _characters() -> frozenset[str]:
    return frozenset({"comma"} | {long_name(chr(code)) for code in range(0x21, 0x7F) if chr(code) != ","})


def usable(keymap: Mapping[str, str]) -> dict[str, str]:
    """The entries that can be bound; `check_keymap` reports what is wrong with the others."""
    return {item: keys for item, keys in keymap.items() if all(valid_key(key) for key in keys_in(keys))}
