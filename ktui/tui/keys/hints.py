"""The keys that texts name, as bound now: a keymap may have changed them."""

from __future__ import annotations

from functools import cache
from itertools import chain

from textual.binding import Binding
from textual.content import Content
from textual.keys import format_key

from ktui.tui.compat import running_app
from ktui.tui.keys.bindings import DIALOGS, SCOPES
from ktui.tui.keys.names import keys_in, usable


def key_of(binding_id: str) -> str:
    """Return a binding's key as texts write it: `w`, `?`, `enter`, `f2`.

    The first of several keys; without the key of the other direction that the footer adds (`,.`).
    Raises KeyError for an unknown id.
    """
    binding, moved = _by_id()[binding_id], _keymap().get(binding_id)
    return written(keys_in(binding.key if moved is None else moved)[0])


def key_hints(*keys: tuple[str, str]) -> Content:
    """Return `esc closes · c copies` for pairs of a binding's id and what its key does."""
    return Content(" · ".join(f"{key_of(binding_id)} {does}" for binding_id, does in keys))


def written(key: str) -> str:
    """Return a key as texts write it: `?`, `ctrl+w`; "enter" in words, as not every font has its sign."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, "enter" if last == "enter" else format_key(last)])


def _keymap() -> dict[str, str]:
    """Return the keymap of the running app; {} without an app."""
    preferences = getattr(running_app(), "preferences", None)
    return usable(preferences.keymap) if preferences is not None else {}


@cache
def _by_id() -> dict[str, Binding]:
    every = chain.from_iterable((*SCOPES.values(), *DIALOGS.values()))
    return {binding.id: binding for binding in every if isinstance(binding, Binding) and binding.id}
