"""The server to measure: ktui's own, or a kubeconfig's real kube-apiserver.

What predictions assume about it is asked of it: version, feature gates, caches, the priority level of ktui.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.client.kube_connection import KubeConnection
from ktui.client.list_counters import (
    Counters,
    ListCounters,
    Subject,
    account,
    account_of_get,
    account_of_watch,
    increase,
    read_counters,
    same_process,
)
from ktui.client.list_stream import ItemList, ListBody
from ktui.client.measure import ApiRequest, Keep, add_page, pages, send_measured
from ktui.client.metrics_page import samples_of
from ktui.contract import flow_config, paths
from ktui.contract.events import CacheStatus, EtcdProgress
from ktui.contract.flow_config import StoredLevels, StoredLimits
from ktui.core.lab.measured import Measured
from ktui.core.prediction.assumptions import OWN_LEVEL, ServerAssumptions
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.flow_schemas import PriorityLevel
from ktui.kube.requestinfo import parse_path, request_verb, split_url
from ktui.kube.versions import Behaviour, BehaviourError, behaviour_of

if TYPE_CHECKING:
    from ktui.client.api import ApiClient


class _Version(msgspec.Struct):
    """`/version` of a kube-apiserver."""

    major: str = "1"
    minor: str = ""


async def assumptions_of_ktui(client: ApiClient) -> ServerAssumptions:
    """Return a ktui server's rules and the state of its caches. Raises ClientError."""
    if (await client.request("GET", paths.INFO)).status_code in (403, 404):
        raise ClientError(
            f"no ktui server answers at {client.connection.url}; for a real kube-apiserver use --kubeconfig"
        )
    server = KtuiApi(client)
    rules, info, present = await server.rules(), await server.info(), await client.present()
    return ServerAssumptions(
        behaviour=_behaviour(rules.kube_version, rules.feature_gates),
        progress=info.progress != "unsupported",
        caches={event.resource: event for event in present if isinstance(event, CacheStatus)},
        compact=max((event.compact for event in present if isinstance(event, EtcdProgress)), default=0),
        level=OWN_LEVEL,
    )


async def assumptions_of_kube(client: ApiClient) -> ServerAssumptions:
    """Return a kube-apiserver's version; default gates and ready caches are assumed. Raises ClientError."""
    try:
        version = msgspec.convert(await client.get_json("/version"), _Version)
    except msgspec.ValidationError as error:
        raise ClientError(f"{client.connection.url} does not answer as a kube-apiserver: {error}") from error
    minor = "".join(char for char in version.minor[:8] if char in "0123456789")
    return ServerAssumptions(behaviour=_behaviour(f"{version.major[:8]}.{minor}", {}), assumed=True)


def _behaviour(version: str, gates: dict[str, bool]) -> Behaviour:
    try:
        return behaviour_of(version, gates)
    except BehaviourError as error:
        raise ClientError(f"the server's version cannot be predicted: {error}") from error


UID_HEADER = "x-kubernetes-pf-prioritylevel-uid"
_FLOW_HEADERS = {"flow_schema_uid": "x-kubernetes-pf-flowschema-uid", "priority_level_uid": UID_HEADER}
# The second name is that before 1.26.
_SEATS = ("apiserver_flowcontrol_nominal_limit_seats", "apiserver_flowcontrol_request_concurrency_limit")
_MOST_SEATS = 1e9  # beyond it a number is not one of seats


async def own_level(client: ApiClient, minor: int) -> PriorityLevel | None:
    """Return the priority level of ktui's own requests: that in a response's header, with its limits.

    None if it is unknown, or what its limit is. Raises ClientError if the server is unreachable.
    """
    if not (paths := flow_config.paths(minor)):
        return None
    answer = await client.request("GET", paths[1])
    uid = answer.headers.get(UID_HEADER, "")
    if not uid or answer.status_code != 200:
        return None
    try:
        levels = decode_json(answer.content, StoredLevels).items or []
    except DocumentError:
        return None
    found = next((level for level in levels if level.metadata.uid == uid), None)
    if found is None:
        return None
    limits = found.spec.limited or StoredLimits()
    queuing = limits.limit_response.queuing
    hand = (queuing.hand_size or 0) if queuing is not None else 0
    name, page = found.metadata.name, await client.request("GET", "/metrics")

    def nominal_seats() -> int | None:
        samples = samples_of(page.content, *_SEATS)
        own = (seats for _, labels, seats in samples if labels.get("priority_level") == name)
        return next((round(seats) for seats in own if 0 <= seats <= _MOST_SEATS), None)

    nominal = await asyncio.to_thread(nominal_seats) if page.status_code == 200 else None
    if nominal is None and hand:
        return None  # no default of another server
    return PriorityLevel(name, limits.shares or 0, hand, nominal)


async def flow_names(client: ApiClient, minor: int) -> dict[str, str]:
    """Return the readable names of flow schemas and priority levels by UID. Raises ClientError."""
    found: dict[str, str] = {}
    for path in flow_config.paths(minor):
        answer = await client.request("GET", path)
        if answer.status_code != 200:
            continue
        with contextlib.suppress(DocumentError):
            items = decode_json(answer.content, ItemList).items or []
            found |= {item.metadata.uid: item.metadata.name for item in items if item.metadata.uid}
    return found


SHARED = "counters are the whole server's: may include other clients' requests"
OTHERS = "route and objects are not known: other clients' requests are in the same counters"
REPLICAS = "route and objects are not known: /metrics came from two processes (replicas, or a restart)"
NO_METRICS = "/metrics is not available"
CLIENT_ONLY = NO_METRICS + " ({}): only the client's side is known"
ESTIMATED = "bytes processed are estimated from the mean size of the objects received, as JSON"


class Target(ABC):
    """A server to send requests to. All methods raise ClientError if it is unreachable.

    `real`: a real kube-apiserver, which others depend on. `settles_later`: measures are judged only once
    `settle` has their traces.
    """

    real = True
    settles_later = False

    def __init__(self, client: ApiClient) -> None:
        self.client = client

    @abstractmethod
    async def assumptions(self) -> ServerAssumptions:
        """Return the server's rules and the current state of its caches."""

    @abstractmethod
    async def measure(self, request: ApiRequest, keep: Keep | None = None) -> Measured: ...

    async def settle(self, runs: Sequence[Measured]) -> None:
        """Complete the measures of requests that the target learns of only later, by their traces."""
        return

    def forget(self) -> None:
        """Give up requests that were not settled: they were stopped."""
        return


def target_of(connection: ServerConnection, user_agent: str) -> Target:
    from ktui.client.api import ApiClient  # it imports httpx, which the first frame does not need

    client = ApiClient(connection, user_agent)
    return KubeTarget(client) if isinstance(connection, KubeConnection) else KtuiTarget(client)


class KtuiTarget(Target):
    """ktui's own server, which reports the cost of each request."""

    real = False

    async def assumptions(self) -> ServerAssumptions:
        return await assumptions_of_ktui(self.client)

    async def measure(self, request: ApiRequest, keep: Keep | None = None) -> Measured:
        return await send_measured(self.client, request, keep)


class KubeTarget(Target):
    """A real kube-apiserver: cost as measured by the client, and from /metrics if readable."""

    def __init__(self, client: ApiClient) -> None:
        super().__init__(client)
        self._assumptions: ServerAssumptions | None = None
        self._flow_names: dict[str, str] | None = None  # by UID

    async def assumptions(self) -> ServerAssumptions:
        """Return version and priority level, read once: they do not change during a command."""
        if self._assumptions is None:
            found = await assumptions_of_kube(self.client)
            level = await own_level(self.client, found.behaviour.minor)
            self._assumptions = replace(found, level=level)
        return self._assumptions

    async def measure(self, request: ApiRequest, keep: Keep | None = None) -> Measured:
        measured = Measured(request.path)
        sent = 0
        before, refused = await self._counters()
        async for fired, body in pages(self.client, request, keep):
            add_page(measured, fired, body)
            sent += fired.wire_bytes
            for word, header in _FLOW_HEADERS.items():  # UIDs of the flow schema and priority level
                if uid := fired.headers.get(header):
                    measured.flow_control[word] = uid
        if before is None:
            measured.remarks.append(CLIENT_ONLY.format(refused))
        else:
            await self._account(measured, request, before)
        if measured.counters and sent:
            measured.counters["sent_bytes"] = sent
        measured.flow_control = await self._named(measured.flow_control)
        return measured

    async def _named(self, uids: dict[str, str]) -> dict[str, str]:
        """Return names instead of UIDs where flow schemas and priority levels may be read, once a command."""
        if uids and self._flow_names is None and self._assumptions is not None:
            self._flow_names = await flow_names(self.client, self._assumptions.behaviour.minor)
        names = self._flow_names or {}
        return {
            word.removesuffix("_uid") if uid in names else word: names.get(uid, uid)
            for word, uid in uids.items()
        }

    async def _account(self, measured: Measured, request: ApiRequest, before: Counters) -> None:
        after, _ = await self._counters()
        if after is None:
            return
        if not same_process(before, after):
            measured.remarks.append(REPLICAS)
            return
        found = _account_of(measured, request.accept, increase(before, after))
        measured.route = measured.route or found.route
        measured.first_route = measured.first_route or found.route
        measured.counters = found.counters
        if found.others or found.counters:
            measured.remarks.append(OTHERS if found.others else SHARED)
        if measured.items and found.counters.get("fetched") and whole_json(request.accept):
            measured.average_bytes = measured.body_bytes / measured.items
            measured.remarks.append(ESTIMATED)

    async def _counters(self) -> tuple[Counters | None, str]:
        """Return the counters, or None and why they are not available."""
        response = await self.client.request("GET", "/metrics")
        if response.status_code != 200:
            return None, f"HTTP {response.status_code}"
        return await asyncio.to_thread(read_counters, response.content), ""


def _account_of(measured: Measured, accept: str, grown: Counters) -> ListCounters:
    """Return what the counters show about the request that was measured while they grew."""
    path, query = split_url(measured.path)
    info = parse_path(path)
    subject, verb = Subject(info.group, info.resource), request_verb("GET", info, query)
    if verb != "LIST":
        return (account_of_watch if verb == "WATCH" else account_of_get)(grown, subject)
    counted = measured.ok and "protobuf" not in accept
    return account(grown, subject, measured.pages, measured.items if counted else None)


def whole_json(accept: str) -> bool:
    """True if the answer has whole objects as JSON, whose mean size is about that of the stored ones."""
    return "as=" not in accept and "protobuf" not in accept


async def collection_size(client: ApiClient, path: str) -> tuple[int, float]:
    """Return the number of objects in the collection `path`, and the JSON bytes of one, from a page of one.

    (0, 0) if the request fails: then the LIST fails with the reason, too.
    """
    probe = ListBody(collection=True)
    fired = await client.send_timed(f"{split_url(path)[0]}?limit=1", on_chunk=probe.feed)
    if fired.status != 200 or not probe.items:
        return 0, 0.0
    size = fired.body_bytes / probe.items
    return probe.items + (probe.envelope().metadata.remaining or 0), size
