"""How an app looks: its themes (reloaded when the user edits them), glyphs and colours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from ktui.config.places import shipped_themes, user_themes
from ktui.tui.looks import symbols, themes
from ktui.tui.looks.symbols import Symbols, in_ascii
from ktui.tui.preferences import Preferences


class AsciiFilter(LineFilter):
    """Replaces every glyph by its ASCII stand-in, cell for cell, for a terminal without Unicode."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


class ColourlessFilter(LineFilter):
    """Removes all colours, as NO_COLOR requires, and shows the important ones by attributes.

    Textual's own filter leaves greys, which terminals treat as colours. Here the cursor's
    row becomes reverse video, and faint text dim.
    """

    # Of the theme, as `#rrggbb`: the backgrounds that highlight, and the colour of faint text.
    _raised: frozenset[str] = frozenset()
    _faint = ""

    def follow_theme(self, variables: Mapping[str, str]) -> None:
        found = (Color.parse(variables[name]) for name in _RAISED if name in variables)
        self._raised = frozenset(colour.hex6.lower() for colour in found)
        self._faint = Color.parse(variables["ink-faint"]).hex6.lower()
        _plain.cache_clear()

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        raised, faint = self._raised, self._faint
        return [
            Segment(text, style and _plain(style, raised, faint), control)
            for text, style, control in segments
        ]


@lru_cache(2048)
def _plain(style: Style, raised: frozenset[str], faint: str) -> Style:
    plain = style.without_color
    if style.meta:
        plain += Style.from_meta(style.meta)  # the action of a click
    if style.bgcolor is not None and style.bgcolor.name in raised:
        return plain + Style(reverse=True)
    if style.color is not None and style.color.name == faint and not style.bold:
        return plain + Style(dim=True)
    return plain


WATCH_INTERVAL = 1.0  # seconds between two checks of the user's theme files
_RAISED = ("cursor", "block-cursor-background", "input-cursor-background", "screen-selection-background")


class Looks:
    """The looks of one app. `problems` has one sentence for each setting that could not be applied."""

    def __init__(self, preferences: Preferences, environ: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        # Textual would send 16 million colours to TERM=dumb.
        self.colourless = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        try:
            self.symbols = symbols.choose(preferences.symbols, environ)
        except ValueError:
            self.symbols = symbols.choose("", environ)
            self.problems.append(f"unknown symbols {preferences.symbols!r}: braille, block or ascii")
        self.filters: list[LineFilter] = []
        self.plain = ColourlessFilter()
        if self.colourless:
            self.filters.append(self.plain)
        if self.symbols is Symbols.ASCII:
            self.filters.append(AsciiFilter())
        self._user = user_themes(environ)
        self._stamps = self._stamp()
        self.found = themes.load_themes(shipped_themes(), self._user)
        self.problems += self.found.problems

    def register(self, app: App[int], wanted: str) -> None:
        """Register all themes with the app and switch to `wanted`, or else to the default."""
        for theme in self.found.by_name.values():
            app.register_theme(theme)
        if wanted and wanted not in app.available_themes:
            self.problems.append(f"there is no theme {wanted!r}; :theme lists them")
            wanted = ""
        app.theme = wanted or (themes.MONO if self.colourless else themes.DEFAULT)

    # The user's themes.

    def reload(self, app: App[int]) -> list[str]:
        """Load what has changed in the user's directory. Return what is wrong with the changed files.

        Removed themes stay while any file is invalid, and the current theme stays in any case.
        """
        stamps = self._stamp()
        if stamps == self._stamps:
            return []
        changed = {path for path, stamp in stamps.items() if self._stamps.get(path) != stamp}
        self._stamps = stamps
        now = themes.load_themes(shipped_themes(), self._user)
        before = self.found.by_name
        for name in before.keys() - now.by_name.keys():
            if now.wrong or name == app.theme:
                now.by_name[name] = before[name]
        self.found = now
        for name, theme in now.by_name.items():
            if before.get(name) != theme:
                app.register_theme(theme)
                if app.theme == name:
                    app.mutate_reactive(App.theme)  # the same name, other colours
        for name in before.keys() - now.by_name.keys():
            app.unregister_theme(name)
        return [reason for path, reason in now.wrong.items() if path in changed]

    def _stamp(self) -> dict[Path, tuple[int, int]]:
        """Return modification time (ns) and size (bytes) of each of the user's files."""
        stamps = {}
        for path in self._user.glob("*.toml"):
            try:
                status = path.stat()
            except OSError:
                continue  # removed meanwhile
            stamps[path] = (status.st_mtime_ns, status.st_size)
        return stamps
