"""The base of apps with the user's theme and symbols."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from textual.filter import LineFilter
from textual.theme import Theme

from ktui.tui.compat import QuietApp
from ktui.tui.kept_stylesheet import KeptStylesheet
from ktui.tui.looks import themes
from ktui.tui.looks.looks import Looks
from ktui.tui.looks.picture import portable
from ktui.tui.preferences import Preferences


class ThemedApp(QuietApp):
    """An app with ktui's themes and the user's; it notifies of those it cannot use."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())
        self.looks = Looks(preferences, os.environ)
        self.looks.register(self, preferences.theme)

    @property
    def own_themes(self) -> list[Theme]:
        """ktui's themes and the user's, without Textual's."""
        return [self.available_themes[name] for name in self.looks.names]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return self.looks.line_filters(super().get_line_filters())

    def export_screenshot(self, *, title: str | None = None, simplify: bool = False) -> str:
        """Return the screen as an SVG that looks the same in every viewer."""
        return portable(super().export_screenshot(title=title, simplify=simplify))

    def on_mount(self) -> None:
        self.watch_theme()
        self._report_skipped(self.looks.problems)

    def watch_theme(self) -> None:
        self.looks.follow_theme(self.theme_variables)

    def reload_themes(self) -> None:
        """Load changed theme files and notify of invalid ones."""
        self._report_skipped(self.looks.reload(self))

    def _report_skipped(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.notify(problem, title="theme skipped", severity="warning", markup=False)
