"""The keys that a text names, as they are bound now: a user's keymap may have moved any of them."""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.keys import format_key

from ktui.tui.compat import running_app
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.names import keys_in, usable

_found: dict[str, Binding] = {}


def key_of(one: str) -> str:
    """How the live key of the binding with this id is written: `w`, `?`, `enter`, `f2`.

    Of several keys it is the first. Raises KeyError for an id that no binding has.
    """
    wanted = _wanted().get(one)
    binding = _binding(one)
    if wanted is None:
        return binding.key_display or written(keys_in(binding.key)[0])
    return written(keys_in(wanted)[0])


def told(*keys: tuple[str, str]) -> Content:
    """`esc closes · c copies`: what the keys of bindings do, as (id, what it does)."""
    return Content(" · ".join(f"{key_of(one)} {does}" for one, does in keys))


def written(key: str) -> str:
    """A key as texts write it: `?`, `ctrl+w`. Not every font has the sign that Textual shows for enter."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, "enter" if last == "enter" else format_key(last)])


def _wanted() -> dict[str, str]:
    """The keymap of the app that runs here; none where texts are made without one."""
    preferences = getattr(running_app(), "preferences", None)
    return usable(preferences.keymap) if preferences is not None else {}


def _binding(one: str) -> Binding:
    if one not in _found:  # its class may have come since
        _found.update({binding.id: binding for binding in _loaded() if binding.id})
    if one not in _found:
        from ktui.tui.keys.keymap import scopes

        _found.update({each.id: each for scope in scopes() for each in scope.bindings if each.id})
    return _found[one]


def _loaded() -> Iterator[Binding]:
    """The bindings of everywhere, and those of the classes of ours that are there already."""
    yield from (one for one in keys.APP if isinstance(one, Binding))
    for node in subclasses(DOMNode):
        if node.__module__.startswith("ktui.tui."):
            yield from (one for one in vars(node).get("BINDINGS", ()) if isinstance(one, Binding))


def subclasses(node: type[DOMNode]) -> set[type[DOMNode]]:
    """Those of a class, and theirs."""
    own = set(node.__subclasses__())
    return own | {below for each in own for below in subclasses(each)}
