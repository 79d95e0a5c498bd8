"""The least Textual app there is: what any first frame costs before ktui has done anything."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

TEXT = "a bare app"


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static(TEXT)


if __name__ == "__main__":
    Bare().run()
