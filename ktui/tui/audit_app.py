"""The audit of logs as a program of its own: one screen, no server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.command import Provider

from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui import keys, themes
from ktui.tui.app import KtuiApp
from ktui.tui.model.audit_reading import Reading, Wish
from ktui.tui.screens.audit import AuditScreen
from ktui.tui.widgets.prompt import Prompt

_KEYS = {"filter", "command", "sort", "sort.turn", "object", "export", "theme", "help", "quit"}


class AuditApp(KtuiApp, inherit_bindings=False):
    """The frame of the dashboard around an audit."""

    MODES: ClassVar[dict[str, Any]] = {"audit": "audit"}
    DEFAULT_MODE = "audit"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = set()
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in keys.APP if isinstance(binding, Binding) and binding.id in _KEYS
    ]

    def __init__(self, reading: Reading, wish: Wish, *, theme: str = "", start_timers: bool = True) -> None:
        super().__init__(start_timers=start_timers, theme=theme or themes.DEFAULT)
        self.audit = AuditScreen(reading, wish)
        self.install_screen(self.audit, "audit")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("filter", "sort", "sort_turn", "export"):
            return self.audit.active_table() is not None
        return super().check_action(action, parameters)

    @property
    def words(self) -> list[str]:
        """What can be typed after `:`."""
        versions = [f"kube {version}" for version in KNOWN_VERSIONS]
        return ["quit", "help", "export", *versions, *(f"theme {theme.name}" for theme in self.own_themes)]

    def action_command(self) -> None:
        self.screen.query_one(Prompt).open(
            ":",
            "",
            hint="kube 1.30, theme NAME, quit",
            typed=lambda text: "",
            entered=self.obey,
            words=self.words,
        )

    def obey(self, text: str) -> str:
        """Do what was typed after `:`; returns what is wrong with it."""
        word, _, rest = text.strip().partition(" ")
        if word == "kube":
            if rest not in KNOWN_VERSIONS:
                return f"no version {rest!r}: {KNOWN_VERSIONS[0]} to {KNOWN_VERSIONS[-1]}"
            self.audit.choose(rest)
        elif word == "theme":
            if rest not in self.available_themes:
                return f"no theme {rest!r}"
            self.theme = rest
        elif word in ("quit", "q", "help", "export"):
            self.call_later(self.run_action, "quit" if word == "q" else word)
        elif word:
            return f"nothing is called {word!r} here"
        return ""
