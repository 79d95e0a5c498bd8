"""Styles by name: every colour comes from the theme's variables."""

from __future__ import annotations

from rich.style import Style as RichStyle
from textual.widget import Widget


class Ink:
    """Turns style names such as `bold $route-cache` into Rich styles, once per theme."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[str, RichStyle] = {}

    def __call__(self, name: str) -> RichStyle:
        style = self._styles.get(name)
        if style is None:
            parsed = self._widget.app.stylesheet.parse_style(name) if name else None
            style = parsed.rich_style if parsed is not None else RichStyle.null()
            self._styles[name] = style
        return style

    def forget(self) -> None:
        """Drop the cached styles, after a change of theme."""
        self._styles.clear()
