"""Having the running server follow the rules of another Kubernetes version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from textual.content import Content

from ktui.client.connection import ClientError
from ktui.kube.versions import Behaviour, behaviour_of, parse_gates
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.routes import badge_of_route
from ktui.tui.model.state import State
from ktui.tui.model.versions_view import routes_under
from ktui.tui.source import Stage
from ktui.tui.widgets.lines import line

if TYPE_CHECKING:
    from ktui.tui.app import KtuiApp

BEHAVIOUR = "/ktui/v1/behaviour"


def read_rules(text: str) -> Behaviour:
    """`1.30`, `1.30 WatchList=true,…`. Raises BehaviourError."""
    version, _, gates = text.strip().partition(" ")
    return behaviour_of(version, parse_gates(gates))


def why_not(app: KtuiApp) -> str:
    """Why no server can be switched now, "" when one can."""
    if app.client is not None:
        return ""
    if app.link.stage is Stage.REPLAY:
        return "a recording follows the rules it was made by: only a running server can be switched"
    return "no server answers yet"


def effect_content(in_hand: InHand, state: State, now: Behaviour, chosen: Behaviour) -> Content:
    """What the choice changes for the request in hand: `E etcd → C watch cache  LIST /api/v1/pods`."""
    runs: list[tuple[str, str]] = []
    for route in routes_under(in_hand, state, now, chosen):
        badge = badge_of_route(route)
        runs += [(" → ", "$ink-faint")] if runs else []
        runs.append((f"{badge.letter} {badge.word}", badge.style))
    return line(*runs, (f"  {in_hand.verb} {unquote(in_hand.target)}", "$ink-muted"))


async def switch_rules(app: KtuiApp, version: str, gates: Mapping[str, bool]) -> None:
    """Ask the server; its telemetry then tells everybody, this dashboard too."""
    problem = why_not(app)
    if app.client is not None:
        try:
            await app.client.send_json(
                "PUT", BEHAVIOUR, {"kube_version": version, "feature_gates": dict(gates)}
            )
        except ClientError as error:
            problem = str(error)
    if problem:
        app.notify(problem, severity="error", markup=False)
        return
    changed = "".join(f", {gate}={'true' if on else 'false'}" for gate, on in gates.items())
    app.notify(f"kube {version}{changed} from the next request on; caches are kept", markup=False)
