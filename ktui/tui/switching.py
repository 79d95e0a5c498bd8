"""Switches the running server to the rules of another Kubernetes version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import unquote

from textual.content import Content

from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.badges import badge_of_route
from ktui.core.selection import EXAMPLE, Selection
from ktui.core.state import State
from ktui.kube.versions import Behaviour, behaviour_of, parse_gates
from ktui.tui.dashboard import Dashboard
from ktui.tui.dialogs.rules import RulesScreen
from ktui.tui.source import Stage
from ktui.tui.versions.minor_rows import followed_behaviour, routes_under
from ktui.tui.widgets.lines import line


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
        app.notify(problem, severity="warning", markup=False)
        return
    now = followed_behaviour(app.state) or behaviour_of()
    effect = partial(effect_content, app.selection or EXAMPLE, app.state, now)
    app.push_screen(RulesScreen(now, wanted, effect), partial(follow_rules, app))


def effect_content(selection: Selection, state: State, now: Behaviour, chosen: Behaviour) -> Content:
    """Return what a choice changes for the request: `E etcd → C watch cache  LIST /api/v1/pods`."""
    runs: list[tuple[str, str]] = []
    for route in routes_under(selection, state, now, chosen):
        badge = badge_of_route(route)
        runs += [(" → ", "$ink-faint")] if runs else []
        runs.append((f"{badge.letter} {badge.word}", badge.style))
    return line(*runs, (f"  {selection.verb} {unquote(selection.target)}", "$ink-muted"))


def follow_rules(app: Dashboard, chosen: Behaviour | None) -> None:
    """Switch the server to the chosen rules; None changes nothing."""
    if chosen is not None:
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
        app.notify(problem, severity="error", markup=False)
        return
    if app.story_active:
        return  # the tour's caption says it, and a notification would hide the results
    changed = "".join(f", {gate}={'true' if on else 'false'}" for gate, on in gates.items())
    app.notify(f"kube {version}{changed} from the next request on; caches are kept", markup=False)
