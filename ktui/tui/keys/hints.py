"""The keys that a text names, as they are bound now: a user's keymap may have moved any of them."""

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
    """How the live key of a binding is written: `w`, `?`, `enter`, `f2`.

    Of several keys it is the first, and never the other direction's, which the footer shows with it
    (`,.`). Raises KeyError for an id that no binding has.
    """
    binding, moved = _by_id()[binding_id], _keymap().get(binding_id)
    return written(keys_in(binding.key if moved is None else moved)[0])


def key_hints(*keys: tuple[str, str]) -> Content:
    """`esc closes · c copies`: what the keys of bindings do, as (id, what it does)."""
    return Content(" · ".join(f"{key_of(binding_id)} {does}" for binding_id, does in keys))


def written(key: str) -> str:
    """A key as texts write it: `?`, `ctrl+w`. Not every font has the sign that Textual shows for enter."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, "enter" if last == "enter" else format_key(last)])


def _keymap() -> dict[str, str]:
    """The keymap of the app that runs here; none where texts are made without one."""
    preferences = getattr(running_app(), "preferences", None)
    return usable(preferences.keymap) if preferences is not None else {}


@cache
def _by_id() -> dict[str, Binding]:
    every = chain.from_iterable((*SCOPES.values(), *DIALOGS.values()))
    return {binding.id: binding for binding in every if isinstance(binding, Binding) and binding.id}
