"""API Priority and Fairness: the flow schema that matches a request, and the limits of its priority level.

The configuration that kube-apiserver creates for itself (since 1.22), with the default concurrency of
400 + 200. A request gets the first matching schema by precedence.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ktui.kube.requestinfo import RequestAttributes, RequestInfo, attributes_of
from ktui.kube.seats import priority_level_max
from ktui.kube.users import MASTERS, NODES, SERVICE_ACCOUNT, Requester

_SERVER_SEATS = 600


@dataclass(frozen=True, slots=True)
class PriorityLevel:
    """`shares` of the server's concurrency; `hand_size` 0: requests are not queued.

    `nominal` are its seats if the server reports them; None: derived from the default shares.
    """

    name: str
    shares: int
    hand_size: int = 0
    nominal: int | None = None

    @property
    def uid(self) -> str:
        return _uid("prioritylevelconfigurations", self.name)

    @property
    def max_seats(self) -> int | None:
        """The most seats that one request may take of a queuing level (since 1.25), None if uncapped."""
        if not self.hand_size:
            return None
        return priority_level_max(self.nominal_seats, self.hand_size)

    @property
    def nominal_seats(self) -> int:
        """The seats of the level before others lend it theirs (nominalConcurrencyLimit)."""
        return self.nominal or math.ceil(
            _SERVER_SEATS * self.shares / sum(level.shares for level in LEVELS.values())
        )


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """The schema that matched a request."""

    name: str
    level: PriorityLevel

    @property
    def uid(self) -> str:
        """Derived from the name: the same in every ktui, but not that of an object in etcd."""
        return _uid("flowschemas", self.name)


LEVELS = {
    level.name: level
    for level in (
        PriorityLevel("exempt", 0),
        PriorityLevel("system", 30, 6),
        PriorityLevel("node-high", 40, 6),
        PriorityLevel("leader-election", 10, 4),
        PriorityLevel("workload-high", 40, 6),
        PriorityLevel("workload-low", 100, 6),
        PriorityLevel("global-default", 20, 6),
        PriorityLevel("catch-all", 5),
    )
}


def displayed_level(level: PriorityLevel) -> PriorityLevel:
    """The level for which ktui's own server reports seats.

    Requests of the level `exempt` are never queued, so seats mean nothing there: they are reported as for
    an ordinary user, whose level is `global-default`.
    """
    return LEVELS["global-default"] if level.name == "exempt" else level


def level_of(requester: Requester, verb: str, info: RequestInfo, minor: int) -> PriorityLevel:
    """The priority level of a request; `verb` as in a flow schema's rules."""
    return classify(requester, attributes_of(info, verb), minor).level


_PROBES = ("/healthz", "/livez", "/readyz")
_HOLDERS = ("system:kube-controller-manager", "system:kube-scheduler")
_LEASES = ("leases", "coordination.k8s.io")
_ELECTION_VERBS = ("get", "create", "update")
_ENDPOINT_CONTROLLERS = (
    "system:kube-controller-manager",
    f"{SERVICE_ACCOUNT}kube-system:endpoint-controller",
    f"{SERVICE_ACCOUNT}kube-system:endpointslicemirroring-controller",
)

_Match = Callable[[Requester, RequestAttributes], bool]


class _Rule(NamedTuple):
    name: str
    level: str
    matches: _Match
    first: int = 0
    last: int = 99


def classify(requester: Requester, asked: RequestAttributes, minor: int) -> FlowSchema:
    """The flow schema of a request in kube-apiserver 1.`minor`."""
    rule = next(rule for rule in _rules(minor) if rule.matches(requester, asked))
    return FlowSchema(rule.name, LEVELS[rule.level])


def _rules(minor: int) -> Iterator[_Rule]:
    return (rule for rule in _RULES if rule.first <= minor <= rule.last)


@cache
def _uid(resource: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"flowcontrol.apiserver.k8s.io/{resource}/{name}"))


def _probe(_: Requester, asked: RequestAttributes) -> bool:
    return asked.verb == "get" and asked.path.rstrip("/") in _PROBES


def _in_kube_system(who: Requester) -> bool:
    return who.service_account_namespace == "kube-system"


def _elects(asked: RequestAttributes, *resources: tuple[str, str]) -> bool:
    return asked.verb in _ELECTION_VERBS and (asked.resource, asked.group) in resources


def _system_election(who: Requester, asked: RequestAttributes) -> bool:
    return (who.user in _HOLDERS or _in_kube_system(who)) and _elects(asked, _LEASES)


def _endpoints(who: Requester, asked: RequestAttributes) -> bool:
    return who.user in _ENDPOINT_CONTROLLERS and _elects(asked, ("endpoints", ""))


def _workload_election(who: Requester, asked: RequestAttributes) -> bool:
    return _in_kube_system(who) and _elects(asked, _LEASES, ("configmaps", ""), ("endpoints", ""))


def _node_heartbeat(who: Requester, asked: RequestAttributes) -> bool:
    heartbeat = (asked.resource, asked.group) in (("nodes", ""), _LEASES)
    return NODES in who.groups and heartbeat and asked.subresource in ("", "status")


_RULES = (
    _Rule("exempt", "exempt", lambda who, _: MASTERS in who.groups),
    _Rule("probes", "exempt", _probe),
    _Rule("system-leader-election", "leader-election", _system_election),
    _Rule("endpoint-controller", "workload-high", _endpoints, 24, 33),
    _Rule("workload-leader-election", "leader-election", _workload_election, 0, 33),
    _Rule("system-node-high", "node-high", _node_heartbeat, 22),
    _Rule("system-nodes", "system", lambda who, _: NODES in who.groups),
    _Rule("kube-controller-manager", "workload-high", lambda who, _: who.user == _HOLDERS[0]),
    _Rule("kube-scheduler", "workload-high", lambda who, _: who.user == _HOLDERS[1]),
    _Rule("kube-system-service-accounts", "workload-high", lambda who, _: _in_kube_system(who)),
    _Rule("service-accounts", "workload-low", lambda who, _: bool(who.service_account_namespace)),
    _Rule("global-default", "global-default", lambda who, _: True),
)
