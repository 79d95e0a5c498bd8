"""What the rules foresee for a request at a server, from what that server tells of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.contract import paths
from ktui.contract.events import CacheState, Progress
from ktui.core.prediction.server_assumptions import OWN_LEVEL, World, resource_id_of
from ktui.kube.explain import Explanation, explain
from ktui.kube.habits import UNKNOWN, Habit
from ktui.kube.routing import sentences
from ktui.kube.routing.plan import Source
from ktui.kube.routing.request import RequestError, parse_request
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of


class _Version(msgspec.Struct):
    """`/version` of a kube-apiserver."""

    major: str = "1"
    minor: str = ""


async def world_of_ktui(client: ApiClient) -> World:
    """A ktui server's world: its rules with their gates, and its caches as they are now."""
    if (await client.request("GET", paths.INFO)).status_code in (403, 404):
        raise ClientError(
            f"no ktui server answers at {client.connection.url}; "
            "a real kube-apiserver is named by --kubeconfig"
        )
    server = KtuiApi(client)
    rules, info = await server.rules(), await server.info()
    caches, compact = await _state(client)
    return World(
        behaviour=_behaviour(rules.kube_version, rules.feature_gates),
        progress=info.progress != "unsupported",
        caches=caches,
        compact=compact,
        level=OWN_LEVEL,
    )


async def world_of_kube(client: ApiClient) -> World:
    """A real kube-apiserver's world: its version with default gates, its caches taken for ready."""
    try:
        version = msgspec.convert(await client.get_json("/version"), _Version)
    except msgspec.ValidationError as error:
        raise ClientError(f"{client.connection.url} does not answer as a kube-apiserver: {error}") from error
    minor = "".join(char for char in version.minor[:8] if char in "0123456789")
    return World(behaviour=_behaviour(f"{version.major[:8]}.{minor}", {}), assumed=True)


def _behaviour(version: str, gates: dict[str, bool]) -> Behaviour:
    try:
        return behaviour_of(version, gates)
    except BehaviourError as error:
        raise ClientError(f"the server's version cannot be predicted: {error}") from error


async def _state(client: ApiClient) -> tuple[dict[str, CacheState], int]:
    """Caches, and etcd's compacted revision."""
    present = await client.present()
    caches = {event.resource: event for event in present if isinstance(event, CacheState)}
    return caches, max((event.compact for event in present if isinstance(event, Progress)), default=0)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A prediction; `explanation` None and `problem` say why there is none."""

    explanation: Explanation | None = None
    problem: str = ""
    assumed: bool = False

    @property
    def route(self) -> str:
        """cache | etcd | none; "" when nothing could be said."""
        return self.explanation.plan.source.route if self.explanation is not None else ""

    def agrees(self, route: str) -> bool | None:
        """Whether the answer came from where it was foreseen; None when nothing was.

        A fallback to etcd that the rules leave open is no surprise.
        """
        if self.explanation is None:
            return None
        measured = route or Source.NONE.value
        fallback = self.explanation.plan.fallback
        return measured == self.route or (measured == "cache,etcd" and fallback.reads_etcd)

    def document(self) -> dict[str, Any]:
        """The `predicted` of `ktui list --json`; `agrees` is for who has measured."""
        if self.explanation is None:
            return {"route": None, "problem": self.problem}
        plan, seats = self.explanation.plan, self.explanation.seats
        return {
            "kube_version": self.explanation.behaviour.version,
            **sentences.document(plan),
            "seats": {"min": seats.min, "max": seats.max},
            "warnings": list(self.explanation.warnings),
            "cache_assumed_ready": self.assumed,
        }


def foresee(path: str, world: World, habit: Habit = UNKNOWN) -> Foreseen:
    """Prediction and cheaper forms of a GET or LIST at a server in that state."""
    try:
        request = parse_request(path)
    except RequestError as error:
        return Foreseen(problem=str(error))
    state = world.routing_state(resource_id_of(path))
    return Foreseen(
        explain(request, state, world.behaviour, habit=habit, level=world.level), assumed=world.assumed
    )
