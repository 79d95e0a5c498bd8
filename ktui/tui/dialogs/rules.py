"""The choice of the running server's Kubernetes version and of the feature gates that affect reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content

from ktui.core.table.columns import Cell, Column
from ktui.kube.gates import FeatureSpec, GateStage, default_of
from ktui.kube.versions import KNOWN_VERSIONS, Behaviour, behaviour_of, steering_gates
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, lines
from ktui.tui.widgets.panel import Panel


@dataclass(frozen=True, slots=True)
class VersionChoice:
    version: str
    current: bool


@dataclass(frozen=True, slots=True)
class GateChoice:
    """A feature gate in the version under the cursor. A locked gate cannot be changed."""

    gate: str
    phase: FeatureSpec
    on: bool

    @property
    def locked(self) -> bool:
        return self.phase.stage is GateStage.LOCKED

    @property
    def turned(self) -> bool:
        return self.on != self.phase.default


def _version(row: VersionChoice) -> Cell:
    return ((row.version, "$foreground"), (" ◂ now", "bold $rv-cache") if row.current else ("", ""))


def _gate(row: GateChoice) -> Cell:
    mark = ("■ ", "$success") if row.on else ("□ ", "$ink-muted")
    style = "$ink-muted" if row.locked else "bold $accent" if row.turned else "$foreground"
    return (mark, (row.gate, style))


def _stage(row: GateChoice) -> Cell:
    default = "on" if row.phase.default else "off"
    return (f"locked {default}" if row.locked else f"{row.phase.stage}, {default}", "$ink-muted")


_VERSIONS: tuple[Column[VersionChoice], ...] = (Column("version", "version", _version, width=12, priority=0),)
_GATES: tuple[Column[GateChoice], ...] = (
    Column("gate", "gate", _gate, width=24, flex=1, priority=0),
    Column("stage", "default", _stage, width=15, priority=1),
)


def key_line(does: str) -> Content:
    """Return the dialog's keys; `does` says what enter does."""
    return key_hints(("table.open", does), ("rules.turn", "toggles a gate"), ("rules.close", "closes"))


class RulesScreen(Dialog[Behaviour | None]):
    """Returns the chosen behaviour, None if closed. `effect` describes what a behaviour would change."""

    DEFAULT_CSS = """
    RulesScreen > Container { height: 24; }
    RulesScreen #choice-version { width: 15; margin-right: 2; }
    RulesScreen #choice-gates { width: 1fr; }
    RulesScreen #choice-about { height: 2; }
    RulesScreen VTable { scrollbar-background: $surface; scrollbar-background-hover: $surface; }
    """
    AUTO_FOCUS = "#choice-version"
    BINDINGS: ClassVar[list[BindingType]] = keys.RULES

    def __init__(self, now: Behaviour, wanted: str, effect: Callable[[Behaviour], Content]) -> None:
        super().__init__()
        self._now = now
        self._effect = effect
        self._wanted = wanted or f"1.{now.minor}"
        self._turned: dict[str, bool] = dict(now.changed_gates)

    def compose(self) -> ComposeResult:
        box = Container()
        box.border_title = "the server behaves as"
        box.border_subtitle = key_line("switches")
        with box:
            with Horizontal():
                yield VTable(_VERSIONS, key=lambda row: row.version, id="choice-version")
                yield VTable(
                    _GATES, key=lambda row: row.gate, id="choice-gates", empty="no gate affects reads"
                )
            yield Panel(id="choice-about")

    @property
    def versions(self) -> VTable[VersionChoice]:
        return self.query_one("#choice-version", VTable)

    @property
    def gates(self) -> VTable[GateChoice]:
        return self.query_one("#choice-gates", VTable)

    @property
    def chosen(self) -> Behaviour:
        """The version under the cursor, with those of the changed gates that it has."""
        row = self.versions.row
        version = row.version if row is not None else self._wanted
        minor = behaviour_of(version).minor
        settable = {gate for gate, phase in steering_gates(minor) if phase.stage is not GateStage.LOCKED}
        turned = {
            gate: on
            for gate, on in self._turned.items()
            if gate in settable and on != default_of(gate, minor)
        }
        return behaviour_of(version, turned)

    def on_mount(self) -> None:
        rows = [VersionChoice(item, item == f"1.{self._now.minor}") for item in KNOWN_VERSIONS]
        self.versions.set_rows(rows)
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
        self.query_one("#choice-about", Panel).show(
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
