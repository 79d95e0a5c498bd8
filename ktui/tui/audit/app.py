"""The audit of logs without a server: an app with one screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.command import Provider

from ktui.audit.build import Wish
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.app import KtuiApp
from ktui.tui.audit.log_reading import Reading
from ktui.tui.audit.screen import AuditScreen
from ktui.tui.commands.all_commands import Commands
from ktui.tui.commands.setting_commands import ACTIONS, THEME, Command
from ktui.tui.dashboard import Dashboard
from ktui.tui.keys import bindings as keys
from ktui.tui.preferences import DEFAULTS, Preferences
from ktui.tui.prompt.prompt import Suggestion

_KEYS = {"filter", "command", "sort", "sort.turn", "object", "export", "theme", "help", "quit"}


def _choose(app: Dashboard, rest: str) -> str:
    """Rank the requests by the rules of another version. Return an error, "" if there is none."""
    if rest not in KNOWN_VERSIONS:
        return f"no version {rest!r}: {KNOWN_VERSIONS[0]} to {KNOWN_VERSIONS[-1]}"
    assert isinstance(app, AuditApp)
    app.audit.choose_version(rest)
    return ""


_VERSIONS = [Suggestion(version, "rank by its rules") for version in reversed(KNOWN_VERSIONS)]
_KUBE = Command(
    "kube", "rank by the rules of a version", _choose, "1.30", needed=True, candidates=lambda app: _VERSIONS
)
_OTHERS = [command for command in ACTIONS if command.word in ("export", "help", "quit")]
AUDIT_COMMANDS = Commands([_KUBE, THEME, *_OTHERS], whole=False)


class AuditApp(KtuiApp, inherit_bindings=False):
    """The dashboard's app with the audit as its only screen."""

    MODES: ClassVar[dict[str, Any]] = {"audit": "audit"}
    DEFAULT_MODE = "audit"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = set()
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in keys.APP if isinstance(binding, Binding) and binding.id in _KEYS
    ]

    def __init__(
        self, reading: Reading, wish: Wish, *, preferences: Preferences = DEFAULTS, start_timers: bool = True
    ) -> None:
        super().__init__(start_timers=start_timers, preferences=preferences)
        self.audit = AuditScreen(reading, wish)
        self.install_screen(self.audit, "audit")

    @property
    def commands(self) -> Commands:
        return AUDIT_COMMANDS
