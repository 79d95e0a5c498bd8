"""The footer: the keys that act here, as many as fit.

One widget that draws one line. Textual's Footer mounts a widget for each key again whenever the
focus moves, which took a fifth of the time to the first frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.cells import cell_len
from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from ktui.tui.keys.bindings import APP, LIVE_APP
from ktui.tui.widgets.lines import line

_GO = "go."  # prefix of the ids of keys that open a screen
_ORDER = {
    binding.id: place
    for bindings in (APP, LIVE_APP)
    for place, binding in enumerate(bindings)
    if isinstance(binding, Binding)
}
HELP = "help"  # always first: it lists all keys
EVERYWHERE = ("filter", "command", "quit")
ALWAYS = ("command", "quit")  # kept when the screen's own keys have no room
SCREENS = "screens"  # id of the key that replaces all screens' keys
GAPS = (2, 1)  # cells between two keys: where there is room, and where there is not


class ShownKey(Struct, frozen=True):
    """A key in the footer: its id, Textual's name and its label, its description and its tooltip."""

    id: str
    key: str
    written: str
    about: str
    tooltip: str
    enabled: bool = True

    @property
    def mode(self) -> str | None:
        """The mode that the key opens; None for other keys."""
        return self.id.removeprefix(_GO) if self.id.startswith(_GO) else None

    @property
    def width(self) -> int:
        return cell_len(self.written) + (1 + cell_len(self.about) if self.about else 0)


class KeyBar(Widget):
    """`? help`, the screen's keys, the screens by number, then the keys that work everywhere.

    Every key is shown with a word. Where they do not all fit, the screens become one key,
    `1–8 screens`; then the filter is left out, then the screen's keys, the last one first. `?`, `:` and
    `q` stay.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $footer-background; text-wrap: nowrap; }
    """

    keys: reactive[tuple[ShownKey, ...]] = reactive(())
    pointed: reactive[ShownKey | None] = reactive(None)  # under the mouse

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)
        # The keys depend on the screen's widgets: read them once it is composed, before its first frame.
        self.screen.call_later(self._bindings_changed, self.screen)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if self.is_attached and self.app.app_focus:
            self.keys = tuple(_keys_of(screen))

    def render(self) -> Content:
        here = self.app.current_mode
        keys = fitting(self.keys, self.size.width)
        gap = Content(" " * gap_of(keys, self.size.width))
        return gap.join(_drawn(key, key.mode == here, key == self.pointed) for key in keys)

    # The mouse.

    def key_at(self, x: int) -> ShownKey | None:
        """Return the key drawn at cell `x`, None between keys."""
        left, keys = 0, fitting(self.keys, self.size.width)
        for key in keys:
            if left <= x < left + key.width:
                return key
            left += key.width + gap_of(keys, self.size.width)
        return None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self.key_at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
        elif key is not None:
            self.app.bell()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.pointed = self.key_at(event.x)

    def on_leave(self) -> None:
        self.pointed = None

    def watch_pointed(self, pointed: ShownKey | None) -> None:
        self.tooltip = pointed.tooltip if pointed is not None else None


def _keys_of(screen: Screen[object]) -> list[ShownKey]:
    """Return the screen's keys, whichever widget binds them; the first of several for one action."""
    shown: dict[str, ShownKey] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.show:
            written = screen.app.get_key_display(binding)
            about, tooltip = binding.description, active.tooltip
            key = ShownKey(binding.id or "", binding.key, written, about, tooltip, active.enabled)
            shown.setdefault(binding.action, key)
    return sorted(shown.values(), key=lambda key: (key.id != HELP, _ORDER.get(key.id, -1)))


def fitting(keys: Sequence[ShownKey], width: int) -> list[ShownKey]:
    """Return the keys as drawn in `width` cells."""
    drawn: list[ShownKey] = []
    for drawn in _variants(keys):
        if _cells(drawn, GAPS[-1]) <= width:
            break
    return drawn


def gap_of(keys: Sequence[ShownKey], width: int) -> int:
    """Return the cells between two keys: the widest of GAPS with which all fit."""
    return next((gap for gap in GAPS if _cells(keys, gap) <= width), GAPS[-1])


def _variants(keys: Sequence[ShownKey]) -> Iterator[list[ShownKey]]:
    """Yield the selections of keys that may be drawn, longest first."""
    first = [key for key in keys if key.id == HELP]
    own = [key for key in keys if key.mode is None and key.id not in (HELP, *EVERYWHERE)]
    screens = [key for key in keys if key.mode is not None]
    everywhere = [key for key in keys if key.id in EVERYWHERE]
    always = [key for key in everywhere if key.id in ALWAYS]
    combined = _combined(screens, everywhere)
    yield [*first, *own, *screens, *everywhere]
    yield [*first, *own, *combined, *everywhere]
    for count in range(len(own), -1, -1):
        yield [*first, *own[:count], *combined, *always]
    for count in range(len(always), -1, -1):
        yield [*first, *always[len(always) - count :]]


def _combined(screens: Sequence[ShownKey], everywhere: Sequence[ShownKey]) -> list[ShownKey]:
    """Return one key for all screens; a click on it opens the command line, which takes their names."""
    if not screens:
        return []
    signs = [key.written for key in screens]
    written = f"{signs[0]}–{signs[-1]}" if all(sign.isdigit() for sign in signs) else " ".join(signs)
    opens = next((key.key for key in everywhere if key.id == "command"), screens[0].key)
    tooltip = ", ".join(f"{key.written} {key.about}" for key in screens)
    return [ShownKey(SCREENS, opens, written, "screens", tooltip)]


def _cells(keys: Sequence[ShownKey], gap: int) -> int:
    return sum(key.width + gap for key in keys) - gap


def _drawn(key: ShownKey, here: bool, pointed: bool) -> Content:
    state = ("dim " if not key.enabled else "") + ("reverse " if pointed else "")
    about = "bold $ink-strong" if here else "$footer-description-foreground"
    parts = [(key.written, f"{state}bold $footer-key-foreground")]
    if key.about:
        parts.append((f" {key.about}", f"{state}{about}"))
    return line(*parts)
