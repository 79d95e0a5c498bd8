"""API Priority and Fairness: the flow schema that matches a request, and the limits of its priority level.

A request gets the first matching schema by precedence, then by name. Where no server supplies its
configuration, kube-apiserver's defaults of the version apply, with the default concurrency of 400 + 200.
Upstream: apiserver/pkg/apis/flowcontrol/bootstrap. The mandatory ones always apply, whatever is stored; the
suggested ones are created in an empty etcd.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ktui.kube.flow_rules import FlowRule, SchemaSpec, level_spec, schema_spec
from ktui.kube.requestinfo import RequestAttributes, RequestInfo, attributes_of
from ktui.kube.seats import priority_level_max
from ktui.kube.users import AUTHENTICATED, MASTERS, NODES, SERVICE_ACCOUNTS, UNAUTHENTICATED, Requester

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
MANDATORY = ("exempt", "catch-all")

Doc = dict[str, Any]


@cache
def default_levels(minor: int) -> dict[str, Doc]:
    """Return the specs of the PriorityLevelConfigurations that 1.`minor` creates by default, by name."""
    specs: dict[str, Doc] = {
        name: {"type": "Limited", "limited": _limits(shares, lendable, queuing, minor)}
        for name, shares, lendable, queuing, since in (
            ("system", 30, 33, (64, 6), 0),
            ("node-high", 40, 25, (64, 6), 22),
            ("leader-election", 10, 0, (16, 4), 0),
            ("workload-high", 40, 50, (128, 6), 0),
            ("workload-low", 100, 90, (128, 6), 0),
            ("global-default", 20, 50, (128, 6), 0),
            ("catch-all", 5, 0, None, 0),
        )
        if minor >= since
    }
    exempt: Doc = {"type": "Exempt"}
    if minor >= 28:
        exempt["exempt"] = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    return {"exempt": exempt} | specs


def _limits(shares: int, lendable: int, queuing: tuple[int, int] | None, minor: int) -> Doc:
    found: Doc = {"nominalConcurrencyShares": shares}
    if minor >= 26:
        found["lendablePercent"] = lendable
    if queuing is None:
        return found | {"limitResponse": {"type": "Reject"}}
    queues, hand = queuing
    limits = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
    return found | {"limitResponse": {"type": "Queue", "queuing": limits}}


@cache
def default_schemas(minor: int) -> dict[str, Doc]:
    """Return the specs of the FlowSchemas that 1.`minor` creates by default, by name, by precedence."""
    manager, scheduler = "system:kube-controller-manager", "system:kube-scheduler"
    system_accounts = _account("*")
    by_user, by_namespace = "ByUser", "ByNamespace"
    every = {
        "resourceRules": [_resources(("*",), "*", "*", cluster=True)],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
    anyone = [_group(UNAUTHENTICATED), _group(AUTHENTICATED)]
    election = ("get", "create", "update")
    leases = _resources(election, "coordination.k8s.io", "leases")
    old = [_resources(election, "", "endpoints", "configmaps")]
    probes = [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]
    accounts = ("endpoint-controller", "endpointslicemirroring-controller")
    endpoints_controllers = [_user(manager), *map(_account, accounts)]
    nodes = [
        _resources(("*",), "", "nodes", "nodes/status", cluster=True),
        _resources(("*",), "coordination.k8s.io", "leases"),
    ]
    rows: tuple[tuple[str, str, int, str, list[Doc], Doc, range], ...] = (
        ("exempt", "exempt", 1, "", [_group(MASTERS)], every, range(99)),
        ("probes", "exempt", 2, "", anyone, {"nonResourceRules": probes}, range(99)),
        ("system-leader-election", "leader-election", 100, by_user,
         [_user(manager), _user(scheduler), system_accounts],
         {"resourceRules": [*(old if minor <= 23 else ()), leases]}, range(99)),
        ("endpoint-controller", "workload-high", 150, by_user, endpoints_controllers,
         {"resourceRules": [_resources(election, "", "endpoints")]}, range(24, 34)),
        ("workload-leader-election", "leader-election", 200, by_user, [system_accounts],
         {"resourceRules": [*old, leases]}, range(34)),
        ("system-node-high", "node-high", 400, by_user, [_group(NODES)], {"resourceRules": nodes},
         range(22, 99)),
        ("system-nodes", "system", 500, by_user, [_group(NODES)], every, range(99)),
        ("kube-controller-manager", "workload-high", 800, by_namespace, [_user(manager)], every, range(99)),
        ("kube-scheduler", "workload-high", 800, by_namespace, [_user(scheduler)], every, range(99)),
        ("kube-system-service-accounts", "workload-high", 900, by_namespace, [system_accounts], every,
         range(99)),
        ("service-accounts", "workload-low", 9000, by_user, [_group(SERVICE_ACCOUNTS)], every, range(99)),
        ("global-default", "global-default", 9900, by_user, anyone, every, range(99)),
        ("catch-all", "catch-all", 10000, by_user, anyone, every, range(99)),
    )  # fmt: skip
    return {
        name: {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
            **({"distinguisherMethod": {"type": method}} if method else {}),
            "rules": [{"subjects": subjects, **rules}],
        }
        for name, level, precedence, method, subjects, rules, minors in rows
        if minor in minors
    }


def _resources(verbs: tuple[str, ...], group: str, *names: str, cluster: bool = False) -> Doc:
    rule: Doc = {"verbs": [*verbs], "apiGroups": [group], "resources": [*names], "namespaces": ["*"]}
    return rule | ({"clusterScope": True} if cluster else {})


def _user(name: str) -> Doc:
    return {"kind": "User", "user": {"name": name}}


def _group(name: str) -> Doc:
    return {"kind": "Group", "group": {"name": name}}


def _account(name: str) -> Doc:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": name}}


SERVER_SEATS = 600  # --max-requests-inflight 400 and --max-mutating-requests-inflight 200
MOST_USERS = 1024  # number of users whose schemas are cached


@cache
def _uid(resource: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"flowcontrol.apiserver.k8s.io/{resource}/{name}"))


@dataclass(frozen=True, slots=True)
class PriorityLevel:
    """A priority level. `shares` of the server's concurrency; `hand_size` 0: requests are not queued.

    `nominal` is the number of seats that the server reports; None: derived from the default shares. `uid` is
    that of the stored object, else one derived from the name, the same in every ktui.
    """

    name: str
    shares: int
    hand_size: int = 0
    nominal: int | None = None
    uid: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "uid", self.uid or _uid("prioritylevelconfigurations", self.name))

    @property
    def max_seats(self) -> int | None:
        """The most seats that one request may take of a queuing level (since 1.25), None if uncapped."""
        if not self.hand_size:
            return None
        return priority_level_max(self.nominal_seats, self.hand_size)

    @property
    def nominal_seats(self) -> int:
        """Return the level's seats before lending and borrowing (nominalConcurrencyLimit)."""
        return self.nominal or math.ceil(SERVER_SEATS * self.shares / _ALL_SHARES)


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """A flow schema and the priority level of its requests, each with its uid.

    `headers` name both in a response, by their uids.
    """

    name: str
    level: PriorityLevel
    spec: SchemaSpec = field(default_factory=SchemaSpec)
    uid: str = ""
    headers: tuple[tuple[bytes, bytes], ...] = field(init=False, default=(), compare=False)

    def __post_init__(self) -> None:
        uid = self.uid or _uid("flowschemas", self.name)
        object.__setattr__(self, "uid", uid)
        schema = (b"x-kubernetes-pf-flowschema-uid", uid.encode())
        level = (b"x-kubernetes-pf-prioritylevel-uid", self.level.uid.encode())
        object.__setattr__(self, "headers", (schema, level))


LEVELS = {
    name: PriorityLevel(name, spec.shares, spec.queuing.hand_size if spec.queuing else 0)
    for name, spec in ((name, level_spec({"spec": doc})) for name, doc in default_levels(36).items())
}


_ALL_SHARES = sum(level.shares for level in LEVELS.values())


def displayed_level(level: PriorityLevel) -> PriorityLevel:
    """Return the level for which ktui's own server reports seats.

    Requests of the level `exempt` are never queued, so seats mean nothing there: they are reported as for an
    ordinary user, whose level is `global-default`.
    """
    return LEVELS["global-default"] if level.name == "exempt" else level


def level_of(requester: Requester, verb: str, info: RequestInfo, minor: int) -> PriorityLevel:
    """Return the priority level of a request; `verb` as in a flow schema's rules."""
    return classify(requester, attributes_of(info, verb), minor).level


class Classifier:
    """Finds the flow schema of a request. Caches, by user, the schemas whose subjects match that user."""

    def __init__(self, schemas: Iterable[FlowSchema]) -> None:
        """Take schemas in any order; the last by precedence gets the requests that no schema matches."""
        self.schemas = sorted(schemas, key=lambda schema: (schema.spec.matching_precedence, schema.name))
        self._by_user: dict[tuple[str, tuple[str, ...]], list[tuple[FlowSchema, list[FlowRule]]]] = {}

    def classify(self, who: Requester, attributes: RequestAttributes) -> FlowSchema:
        key = (who.user, who.groups)
        found = self._by_user.get(key)
        if found is None:
            if len(self._by_user) >= MOST_USERS:
                self._by_user.clear()
            own = (
                (schema, [rule for rule in schema.spec.rules if rule.matches_subject(who)])
                for schema in self.schemas
            )
            found = self._by_user[key] = [(schema, rules) for schema, rules in own if rules]
        for schema, rules in found:
            for rule in rules:
                if rule.matches_everything or rule.matches_request(attributes):
                    return schema
        return self.schemas[-1]


def classify(requester: Requester, attributes: RequestAttributes, minor: int) -> FlowSchema:
    """Return the flow schema of a request in kube-apiserver 1.`minor` with its default configuration."""
    return _defaults(minor).classify(requester, attributes)


@cache
def _defaults(minor: int) -> Classifier:
    specs = {name: schema_spec({"spec": doc}) for name, doc in default_schemas(minor).items()}
    return Classifier(FlowSchema(name, LEVELS[spec.level], spec) for name, spec in specs.items())
