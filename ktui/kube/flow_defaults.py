"""The FlowSchemas and PriorityLevelConfigurations that kube-apiserver creates by default, by version.

Upstream: apiserver/pkg/apis/flowcontrol/bootstrap. The mandatory ones always apply, whatever is stored; the
suggested ones are created in an empty etcd.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ktui.kube.users import AUTHENTICATED, MASTERS, NODES, SERVICE_ACCOUNTS, UNAUTHENTICATED

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
MANDATORY = ("exempt", "catch-all")
LENDABLE_SINCE = 26

Doc = dict[str, Any]


@cache
def default_levels(minor: int) -> dict[str, Doc]:
    """Return the specs of 1.`minor` by name."""
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
    if minor >= LENDABLE_SINCE:
        found["lendablePercent"] = lendable
    if queuing is None:
        return found | {"limitResponse": {"type": "Reject"}}
    queues, hand = queuing
    limits = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
    return found | {"limitResponse": {"type": "Queue", "queuing": limits}}


@cache
def default_schemas(minor: int) -> dict[str, Doc]:
    """Return the specs of 1.`minor` by name, in the order of precedence."""
    manager, scheduler = "system:kube-controller-manager", "system:kube-scheduler"
    system_accounts = _account("*")
    every, by_user, by_namespace = _everything(), "ByUser", "ByNamespace"
    anyone = [_group(UNAUTHENTICATED), _group(AUTHENTICATED)]
    election = ("get", "create", "update")
    leases = _resources(election, "coordination.k8s.io", "leases")
    old = [_resources(election, "", "endpoints", "configmaps")]
    probes = [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]
    endpoints_controllers = [
        _user(manager),
        _account("endpoint-controller"),
        _account("endpointslicemirroring-controller"),
    ]
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


def _everything() -> Doc:
    return {
        "resourceRules": [_resources(("*",), "*", "*", cluster=True)],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
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
