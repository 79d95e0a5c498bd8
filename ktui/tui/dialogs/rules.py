"""The choice of the running server's Kubernetes version and of the feature gates that affect reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.references import EXAMPLE, Selection
from ktui.core.rows import badge_of_route
from ktui.core.state import State
from ktui.core.table.columns import Cell, Column
from ktui.kube.gates import FeatureSpec, GateStage, default_of
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, behaviour_of, parse_gates, steering_gates
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.dialog import Dialog, framed
from ktui.tui.source import Stage
from ktui.tui.table.vtable import VTable
from ktui.tui.versions.minor_rows import followed_behaviour, routes_under
from ktui.tui.widgets.lines import line, lines
from ktui.tui.widgets.panel import Panel


@dataclass(frozen=True, slots=True)
class GateChoice:
    """A feature gate in the version under the cursor. A locked gate cannot be changed."""

    gate: str
    phase: FeatureSpec
    on: bool

    @property
    def locked(self) -> bool:
        return self.phase.stage is GateStage.LOCKED


def _gate(row: GateChoice) -> Cell:
    mark = ("■ ", "$success") if row.on else ("□ ", "$ink-muted")
    turned = row.on != row.phase.default
    style = "$ink-muted" if row.locked else "bold $accent" if turned else "$foreground"
    return (mark, (row.gate, style))


def _stage(row: GateChoice) -> Cell:
    default = "on" if row.phase.default else "off"
    return (f"locked {default}" if row.locked else f"{row.phase.stage}, {default}", "$ink-muted")


_GATES: tuple[Column[GateChoice], ...] = (
    Column("gate", "gate", _gate, width=24, flex=1, priority=0),
    Column("stage", "default", _stage, width=15, priority=1),
)


class RulesScreen(Dialog[Behaviour], bindings="rules"):
    """Returns the chosen behaviour.

    `effect` describes what a behaviour would change; `does` says what enter does.
    """

    DEFAULT_CSS = """
    RulesScreen > Container { height: 24; }
    RulesScreen #choice-version { width: 15; margin-right: 2; }
    RulesScreen #choice-gates { width: 1fr; }
    RulesScreen #choice-about { height: 2; }
    RulesScreen VTable { scrollbar-background: $surface; scrollbar-background-hover: $surface; }
    """
    AUTO_FOCUS = "#choice-version"

    def __init__(
        self, now: Behaviour, wanted: str, effect: Callable[[Behaviour], Content],
        title: str = "the server behaves as", does: str = "switches",
    ) -> None:  # fmt: skip
        super().__init__()
        self._title, self._does = title, does
        current = (" ◂ now", "bold $rv-cache")
        version: Column[str] = Column(
            "version", "version",
            lambda row: ((row, "$foreground"), current if row == f"1.{now.minor}" else ("", "")),
            width=12, priority=0,
        )  # fmt: skip
        self.versions = VTable((version,), key=lambda row: row, id="choice-version")
        self.gates = VTable(
            _GATES, key=lambda row: row.gate, id="choice-gates", empty="no gate affects reads"
        )
        self._about = Panel(id="choice-about")
        self._effect = effect
        self._wanted = wanted or f"1.{now.minor}"
        self._turned: dict[str, bool] = dict(now.changed_gates)

    def compose(self) -> ComposeResult:
        hints = ("table.open", self._does), ("rules.turn", "toggles a gate"), ("rules.close", "closes")
        with framed(Container(), self._title, *hints):
            with Horizontal():
                yield self.versions
                yield self.gates
            yield self._about

    @property
    def chosen(self) -> Behaviour:
        """The version under the cursor, with those of the changed gates that it has."""
        version = self.versions.row or self._wanted
        minor = behaviour_of(version).minor
        settable = {gate for gate, phase in steering_gates(minor) if phase.stage is not GateStage.LOCKED}
        turned = {gate: on for gate, on in self._turned.items() if gate in settable}
        changed = {gate: on for gate, on in turned.items() if on != default_of(gate, minor)}
        return behaviour_of(version, changed)

    def on_mount(self) -> None:
        self.versions.set_rows(KNOWN_VERSIONS)
        self.call_after_refresh(self.versions.move_to, KNOWN_VERSIONS.index(self._wanted))
        self._show_gates()

    @on(VTable.Highlighted, "#choice-version")
    def _show_gates(self) -> None:
        chosen = self.chosen
        self.gates.set_rows(
            [GateChoice(gate, phase, chosen.enabled(gate)) for gate, phase in steering_gates(chosen.minor)]
        )
        turned = ", ".join(f"{gate}={'true' if on else 'false'}" for gate, on in chosen.changed_gates.items())
        text = f"kube {chosen.version}" + (f" with {turned}" if turned else ", its default gates")
        about = [line((text, "$ink-strong")), self._effect(chosen)]
        self._about.show(
            lambda width, _: lines([row.truncate(width, ellipsis=True) for row in about]), chosen
        )

    @on(VTable.Selected)
    def _chosen(self, event: VTable.Selected) -> None:
        self.dismiss(self.chosen)

    def action_turn(self) -> None:
        row = self.gates.row
        if row is not None and self.gates.has_focus and not row.locked:
            self._turned[row.gate] = not row.on
            self._show_gates()

    def action_other(self) -> None:
        (self.versions if self.gates.has_focus else self.gates).focus()


def read_rules(text: str) -> Behaviour:
    """Return the behaviour for `1.30` or `1.30 WatchList=true,…`. Raises BehaviourError."""
    version, _, gates = text.strip().partition(" ")
    return behaviour_of(version, parse_gates(gates))


def why_not(app: Dashboard) -> str:
    """Return why no server can be switched, "" if one can."""
    if app.client is not None:
        return ""
    if app.state.live.server is not None:
        return "a live kube-apiserver follows its own version: Versions (8) compares with others"
    if app.link.stage is Stage.REPLAY:
        return "the version of a recording is fixed: only a running server can be switched"
    return "no server answers yet"


def choose_rules(app: Dashboard, wanted: str = "") -> None:
    """Open the choice of version and gates, at the version `wanted`."""
    if problem := why_not(app):
        app.notify(problem, severity="warning")
        return
    now = followed_behaviour(app.state) or behaviour_of()
    effect = partial(effect_content, app.selection or EXAMPLE, app.state, now)
    RulesScreen(now, wanted, effect).ask(app, partial(follow_rules, app))


def effect_content(selection: Selection, state: State, now: Behaviour, chosen: Behaviour) -> Content:
    """Return what a choice changes for the request: `E etcd → C watch cache  LIST /api/v1/pods`."""
    runs: list[tuple[str, str]] = []
    for route in routes_under(selection, state, now, chosen):
        badge = badge_of_route(route)
        runs += [(" → ", "$ink-faint")] if runs else []
        runs.append((f"{badge.letter} {badge.word}", badge.style))
    return line(*runs, (f"  {selection.verb} {unquote(selection.target)}", "$ink-muted"))


def follow_rules(app: Dashboard, chosen: Behaviour) -> None:
    """Switch the server to the chosen rules."""
    switch = switch_rules(app, chosen.version, chosen.changed_gates)
    app.run_worker(switch, group="rules", exclusive=True)


async def switch_rules(app: Dashboard, version: str, gates: Mapping[str, bool]) -> None:
    """Switch the server and notify of the result; its telemetry reports the change to all dashboards."""
    problem = why_not(app)
    if app.client is not None:
        try:
            await KtuiApi(app.client).follow_rules(version, gates)
        except ClientError as error:
            problem = str(error)
    if problem:
        app.notify(problem, severity="error")
        return
    if app.story_active:
        return  # the tour's caption says it, and a notification would hide the results
    changed = "".join(f", {gate}={'true' if on else 'false'}" for gate, on in gates.items())
    app.notify(f"kube {version}{changed} from the next request on; caches are kept")
