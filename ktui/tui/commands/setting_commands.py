"""What a command is, and those for the rules, the theme, the current table, kubectl, logs and recordings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ktui.client.running import state_home
from ktui.contract.recording import RecordingError
from ktui.core.format import clock_time
from ktui.core.replay.player import pace, spot
from ktui.core.table.filter import FilterError
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import KNOWN_VERSIONS, BehaviourError
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.jump import open_revision
from ktui.tui.dialogs.rules import follow_rules, read_rules
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.prompt.prompt import Suggestion
from ktui.tui.replay import actions
from ktui.tui.replay.playback import Playback
from ktui.tui.screen_bases.table_screen import TableScreen
from ktui.tui.table.vtable import VTable


class CommandError(ValueError):
    """A command cannot be run: one sentence."""


Action = Callable[[Dashboard, str], str | None]
Candidates = Callable[[Dashboard], Iterable[Suggestion]]  # possible arguments


@dataclass(frozen=True, slots=True)
class Command:
    """`action` takes the argument; it returns or raises what is wrong.

    `argument` is the argument's name in the help (`NAME`), "" for a command without one; `needed`
    makes it mandatory. `title` is the name in the palette, "" to leave the command out there.
    """

    word: str
    about: str
    action: Action
    argument: str = ""
    needed: bool = False
    candidates: Candidates = lambda app: ()
    aliases: tuple[str, ...] = ()
    title: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return (self.word, *self.aliases)

    @property
    def usage(self) -> str:
        """`theme NAME`, `pods`: the word and the argument's name."""
        return f"{self.word} {self.argument}".rstrip()

    def run(self, app: Dashboard, rest: str) -> str:
        """Run the command with an argument. Return an error, "" if there is none."""
        try:
            return self.action(app, rest) or ""
        except (CommandError, BehaviourError, FilterError, RecordingError, RequestError) as error:
            return str(error)


def act(action: str) -> Action:
    """Return the action of a key."""

    def run(app: Dashboard, rest: str) -> None:
        app.call_later(app.run_action, action)

    return run


def _rules(app: Dashboard, rest: str) -> None:
    if rest:
        follow_rules(app, read_rules(rest))
    else:
        app.call_later(app.run_action, "rules")


def _theme(app: Dashboard, rest: str) -> None:
    if rest not in app.available_themes:
        themes = ", ".join(theme.name for theme in app.own_themes)
        raise CommandError(f"no theme {rest!r}; there are {themes}")
    app.theme = rest


def _themes(app: Dashboard) -> Iterator[Suggestion]:
    for theme in app.own_themes:
        yield Suggestion(theme.name, "the one in use" if theme.name == app.theme else "colours")


def _audit(app: Dashboard, rest: str) -> str:
    from ktui.tui.audit.screen import open_audit  # start-up time: loaded when a log is opened

    return open_audit(app, rest)


def _kubeconfig(app: Dashboard, rest: str) -> None:
    """Show and copy the command that points other programs at this server."""
    server = app.state.server
    path = state_home() / "servers" / str(server.pid if server is not None else 0) / "kubeconfig"
    if not path.exists():
        problem = "this server's kubeconfig is not on this machine"
        raise CommandError(f"{problem}: `ktui kubeconfig` there writes it")
    line = f"export KUBECONFIG={shlex.quote(str(path))}"
    app.copy_to_clipboard(line)
    app.push_screen(TextScreen("point a client at this server", f"{line}\nkubectl get pods -A"))


def _revision(app: Dashboard, rest: str) -> None:
    digits = rest.replace(",", "")
    if not (digits.isascii() and digits.isdigit()):
        raise CommandError(f"{rest!r} is not a revision")
    open_revision(app, int(digits))


def _revisions(app: Dashboard) -> Iterator[Suggestion]:
    if app.state.head.revision:
        yield Suggestion(str(app.state.head.revision), "etcd's head")
    for row in app.state.caches.values():
        if row.live:
            yield Suggestion(str(row.rv), f"revision of the cache of {row.resource}")


def _active_table(app: Dashboard) -> VTable[Any]:
    table = app.screen.active_table() if isinstance(app.screen, TableScreen) else None
    if table is None:
        raise CommandError("there is no table on this screen")
    return table


def _namespace(app: Dashboard, rest: str) -> None:
    """Filter the current table by a namespace; without a name, clear the filter."""
    table = _active_table(app)
    column = next((item.id for item in table.columns if item.id in ("ns", "namespace")), "")
    if not column:
        raise CommandError("this table has no namespaces")
    table.set_filter(f"{column}:{rest}" if rest else "")


def _namespaces(app: Dashboard) -> Iterator[Suggestion]:
    names = {row.started.namespace for row in app.state.requests.values()}
    names |= {row.opened.namespace for row in app.state.watchers.values()}
    yield from (Suggestion(name, "named in a request") for name in sorted(filter(None, names)))


def _record(app: Dashboard, rest: str) -> str | None:
    if rest:
        return actions.start_recording(app, rest)
    actions.toggle_recording(app)
    return None


def _playback(app: Dashboard) -> Playback:
    if app.intake.playback is None:
        raise CommandError("this is not a replay: `ktui --replay FILE` plays a recording")
    return app.intake.playback


def _seek(app: Dashboard, rest: str) -> None:
    playback = _playback(app)
    playback.seek(spot(rest, playback.index.began, playback.index.ended))


def _marks(app: Dashboard) -> Iterator[Suggestion]:
    if (playback := app.intake.playback) is not None:
        for marker in playback.markers:
            yield Suggestion(f"@{clock_time(marker.at)}", marker.text)


def _speed(app: Dashboard, rest: str) -> None:
    _playback(app).player.speed = pace(rest)


THEME = Command("theme", "colours", _theme, "NAME", needed=True, candidates=_themes, title="Theme:")
SETTINGS = (
    Command("kube", "set the Kubernetes version that the server follows", _rules, "[1.30 Gate=true,…]",
            candidates=lambda app: [Suggestion(version, "the server follows its rules")
                                    for version in reversed(KNOWN_VERSIONS)], title="Kubernetes"),
    THEME,
    Command("rv", "what happened at a revision of etcd", _revision, "N", needed=True, candidates=_revisions,
            aliases=("rev", "revision")),
    Command("filter", "filter the table, as / does",
            lambda app, text: _active_table(app).set_filter(text), "[ms>10 client~cilium]"),
    Command("ns", "filter the table by a namespace", _namespace, "[NAME]", candidates=_namespaces,
            aliases=("namespace",)),
    Command("kubeconfig", "point kubectl at this server", _kubeconfig, title="Point kubectl at this server"),
    Command("audit", "analyse logs of kube-apiserver and etcd", _audit, "FILE…", needed=True),
)  # fmt: skip

ACTIONS = (
    Command("pause", "pause or resume the tables", act("pause"), title="Pause the tables"),
    Command("writes", "show or hide writes in the logs", act("writes"), title="Show or hide writes"),
    Command("export", "write the table to a file", act("screen.export"), title="Export the table"),
    Command("open", "open what the selected row refers to", act("screen.elsewhere"), title="Open related"),
    Command("back", "back", act("travel(-1)"), title="Back"),
    Command("forward", "forward", act("travel(1)"), title="Forward"),
    Command("restart", "restart a server that has stopped", act("restart"), title="Restart the server"),
    Command("help", "every key of this screen", act("help"), aliases=("keys",), title="Show the keys"),
    Command("quit", "leave ktui", act("quit"), aliases=("q", "exit"), title="Quit"),
)


RECORDING = (
    Command("record", "start or stop recording to a file", _record, "[FILE]",
            title="Start or stop recording"),
    Command("marker", "add a marker to the recording", actions.set_marker, "[TEXT]", title="Set a marker"),
    Command("seek", "go to a time of the recording", _seek, "1:30", needed=True, candidates=_marks),
    Command("speed", "the speed of the replay", _speed, "4, max", needed=True),
)  # fmt: skip
