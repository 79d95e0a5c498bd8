"""How an app looks: its themes (the user's are followed as they change), glyphs and colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import App
from textual.color import Color
from textual.filter import LineFilter, Monochrome
from textual.theme import Theme

from ktui.config.places import shipped_themes, user_themes
from ktui.tui.looks import symbols, themes
from ktui.tui.looks.filters import AsciiFilter, ColourlessFilter
from ktui.tui.looks.symbols import Symbols
from ktui.tui.preferences import Preferences

WATCH_INTERVAL = 1.0  # seconds between two looks at the user's themes
_RAISED = ("cursor", "block-cursor-background", "input-cursor-background", "screen-selection-background")


class Looks:
    """The looks of one app. `problems` says what could not be had, one sentence each."""

    def __init__(self, preferences: Preferences, environ: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        # Textual would write 16 million colours to a terminal that calls itself dumb.
        self.colourless = bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        try:
            self.symbols = symbols.choose(preferences.symbols, environ)
        except ValueError:
            self.symbols = symbols.choose("", environ)
            self.problems.append(f"unknown symbols {preferences.symbols!r}: braille, block or ascii")
        self._filters: list[LineFilter] = []
        self._plain = ColourlessFilter()
        if self.colourless:
            self._filters.append(self._plain)
        if self.symbols is Symbols.ASCII:
            self._filters.append(AsciiFilter())
        self._user = user_themes(environ)
        self._stamps = self._stamp()
        self._found = themes.load_themes(shipped_themes(), self._user)
        self.problems += self._found.problems

    @property
    def names(self) -> list[str]:
        """The themes that come from files: ktui's and the user's, not Textual's."""
        return list(self._found.by_name)

    def register(self, app: App[int], wanted: str) -> None:
        """Make the themes known to the app and put on the one wanted."""
        for theme in self._found.by_name.values():
            app.register_theme(theme)
        if wanted and wanted not in app.available_themes:
            self.problems.append(f"there is no theme {wanted!r}; :theme lists them")
            wanted = ""
        app.theme = wanted or (themes.MONO if self.colourless else themes.DEFAULT)

    def line_filters(self, inherited: Sequence[LineFilter]) -> list[LineFilter]:
        """What painted lines go through: no greys in the place of colours, where none are wanted."""
        return [*(item for item in inherited if not isinstance(item, Monochrome)), *self._filters]

    def follow_theme(self, variables: Mapping[str, str]) -> None:
        """Another theme is on: NO_COLOR shows its cursor and its faint inks by attributes."""
        self._plain.follow(
            raised=frozenset(
                Color.parse(variables[name]).hex6.lower() for name in _RAISED if name in variables
            ),
            faint=frozenset((Color.parse(variables["ink-faint"]).hex6.lower(),)),
        )

    # The user's themes.

    def reload(self, app: App[int]) -> list[str]:
        """Take up what has changed in the user's directory; returns what is wrong there now.

        A theme whose file cannot be used stays as it was, and so does the one that is on.
        """
        stamps = self._stamp()
        if stamps == self._stamps:
            return []
        changed = {path for path, stamp in stamps.items() if self._stamps.get(path) != stamp}
        self._stamps = stamps
        now = themes.load_themes(shipped_themes(), self._user)
        before = self._found.by_name
        for name in before.keys() - now.by_name.keys():
            if now.wrong or name == app.theme:
                now.by_name[name] = before[name]
        self._found = now
        for name, theme in now.by_name.items():
            if before.get(name) != theme:
                self._replace(app, theme)
        for name in before.keys() - now.by_name.keys():
            app.unregister_theme(name)
        return [reason for path, reason in now.wrong.items() if path in changed]

    def _replace(self, app: App[int], theme: Theme) -> None:
        app.register_theme(theme)
        if app.theme == theme.name:
            app.mutate_reactive(App.theme)  # the same name, other colours

    def _stamp(self) -> dict[Path, tuple[int, int]]:
        """When each of the user's files was written, and how long it is."""
        stamps = {}
        for path in self._user.glob("*.toml"):
            try:
                status = path.stat()
            except OSError:
                continue  # gone in between
            stamps[path] = (status.st_mtime_ns, status.st_size)
        return stamps
