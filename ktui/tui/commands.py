"""What can be typed after `:` and found in the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.kube.routing.request import RequestError
from ktui.kube.versions import KNOWN_VERSIONS, BehaviourError
from ktui.tui.model.in_hand import read_in_hand
from ktui.tui.modes import MODES, find_mode
from ktui.tui.switching import read_rules

if TYPE_CHECKING:
    from ktui.tui.app import KtuiApp

# Words besides the names of modes, with the action that they run.
_WORDS = {
    "quit": "quit",
    "q": "quit",
    "help": "help",
    "pause": "pause",
    "export": "export",
    "restart": "restart",
}
# Words before a request, as `ktui explain` has it.
_EXPLAIN = ("explain", "versions")


def command_words(app: KtuiApp) -> list[str]:
    """All words for completion."""
    rules = [f"kube {version}" for version in KNOWN_VERSIONS]
    names = [name for mode in MODES for name in (mode.name, *mode.aliases)]
    return [
        *names,
        *(word for word in _WORDS if len(word) > 1),
        "audit ",
        *(f"theme {t.name}" for t in app.own_themes),
        *rules,
    ]


def run_command(app: KtuiApp, text: str) -> str:
    """Do what was typed after `:`; returns what is wrong with it, "" when nothing is."""
    word, _, rest = text.strip().partition(" ")
    if not word:
        return ""
    if word == "theme":
        return _set_theme(app, rest.strip())
    if word == "audit":
        from ktui.tui.open_audit import open_audit

        return open_audit(app, rest)
    if word == "kube":
        return _follow_rules(app, rest.strip())
    if word.startswith("/") or (word in _EXPLAIN and rest.strip()):
        return _take_in_hand(app, text.strip() if word.startswith("/") else rest)
    if action := _WORDS.get(word.lower()):
        app.call_later(app.run_action, action)
        return ""
    mode = find_mode(word)
    if mode is None:
        return f"no screen {word!r}; there are {', '.join(mode.name for mode in MODES)}"
    app.call_later(app.action_go, mode.name)
    return ""


def _follow_rules(app: KtuiApp, text: str) -> str:
    if not text:
        app.call_later(app.action_rules)
        return ""
    try:
        app.follow_rules(read_rules(text))
    except BehaviourError as error:
        return str(error)
    return ""


def _take_in_hand(app: KtuiApp, text: str) -> str:
    try:
        in_hand = read_in_hand(text)
    except RequestError as error:
        return str(error)
    app.call_later(app.show_versions, in_hand)
    return ""


def _set_theme(app: KtuiApp, name: str) -> str:
    if name not in app.available_themes:
        return f"no theme {name!r}; there are {', '.join(theme.name for theme in app.own_themes)}"
    app.theme = name
    return ""


class KtuiCommands(Provider):
    """Screens, actions and themes in the command palette."""

    @property
    def _entries(self) -> list[tuple[str, str, str]]:
        app: KtuiApp = self.app  # type: ignore[assignment]
        return [
            *((f"Go to {mode.title}", f"go('{mode.name}')", mode.about) for mode in MODES),
            *((f"Theme: {theme.name}", f"theme('{theme.name}')", "colours") for theme in app.own_themes),
            ("Kubernetes version …", "rules", "whose rules the server follows, and its gates"),
            *((f"Kubernetes {one}", f"rules('{one}')", "choose it") for one in KNOWN_VERSIONS),
            ("Pause the tables", "pause", "hold them still, or let them go on"),
            ("Export the table", "export", "write it to a CSV file"),
            ("Show the keys", "help", "every key of this screen"),
            ("Quit", "quit", "leave ktui"),
        ]

    async def discover(self) -> Hits:
        for title, action, about in self._entries:
            yield DiscoveryHit(title, self._runner(action), help=about)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, action, about in self._entries:
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), self._runner(action), help=about)

    def _runner(self, action: str):  # type: ignore[no-untyped-def]
        async def run() -> None:
            await self.app.run_action(action)

        return run
