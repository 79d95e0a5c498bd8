"""Flow schemas and priority levels."""

from __future__ import annotations

import pytest

from ktui.kube.flow_schemas import LEVELS, classify
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester, requester_of

ADMIN = Requester("admin", ("system:masters", "system:authenticated"))
PERSON = Requester("jane", ("system:authenticated",))
NODE = Requester("system:node:n1", ("system:nodes", "system:authenticated"))
SCHEDULER = Requester("system:kube-scheduler")
BUILDER = requester_of("system:serviceaccount:ci:builder")
DNS = requester_of("system:serviceaccount:kube-system:coredns")
ENDPOINTS = requester_of("system:serviceaccount:kube-system:endpoint-controller")

LIST_PODS = RequestAttributes("list", "", "pods")
GET_LEASE = RequestAttributes("get", "coordination.k8s.io", "leases", namespace="kube-system")


@pytest.mark.parametrize(
    ("who", "asked", "minor", "schema", "level"),
    [
        (ADMIN, LIST_PODS, 36, "exempt", "exempt"),
        (PERSON, RequestAttributes("get", path="/readyz"), 36, "probes", "exempt"),
        (PERSON, LIST_PODS, 36, "global-default", "global-default"),
        (NODE, LIST_PODS, 36, "system-nodes", "system"),
        (NODE, RequestAttributes("patch", "", "nodes", "status"), 36, "system-node-high", "node-high"),
        (NODE, RequestAttributes("patch", "", "nodes", "status"), 21, "system-nodes", "system"),
        (SCHEDULER, LIST_PODS, 36, "kube-scheduler", "workload-high"),
        (SCHEDULER, GET_LEASE, 36, "system-leader-election", "leader-election"),
        (BUILDER, LIST_PODS, 36, "service-accounts", "workload-low"),
        (BUILDER, GET_LEASE, 36, "service-accounts", "workload-low"),
        (DNS, LIST_PODS, 36, "kube-system-service-accounts", "workload-high"),
        (
            DNS,
            RequestAttributes("update", "", "configmaps", namespace="kube-system"),
            33,
            "workload-leader-election",
            "leader-election",
        ),
        (
            DNS,
            RequestAttributes("update", "", "configmaps", namespace="kube-system"),
            34,
            "kube-system-service-accounts",
            "workload-high",
        ),
        (
            ENDPOINTS,
            RequestAttributes("update", "", "endpoints", namespace="shop"),
            30,
            "endpoint-controller",
            "workload-high",
        ),
        (
            ENDPOINTS,
            RequestAttributes("update", "", "endpoints", namespace="shop"),
            23,
            "system-leader-election",
            "leader-election",
        ),
    ],
)
def test_a_request_falls_under_the_first_schema_that_matches(
    who: Requester, asked: RequestAttributes, minor: int, schema: str, level: str
) -> None:
    found = classify(who, asked, minor)
    assert (found.name, found.level.name) == (schema, level)


@pytest.mark.parametrize(
    ("level", "seats"),
    [
        ("exempt", None),
        ("system", 12),
        ("node-high", 15),
        ("leader-election", 4),
        ("workload-high", 15),
        ("workload-low", 37),
        ("global-default", 8),
        ("catch-all", None),
    ],
)
def test_a_level_caps_what_one_request_takes(level: str, seats: int | None) -> None:
    assert LEVELS[level].max_seats == seats


def test_uids_are_stable_and_distinct() -> None:
    one, other = classify(ADMIN, LIST_PODS, 36), classify(PERSON, LIST_PODS, 36)
    assert one.uid == classify(ADMIN, GET_LEASE, 30).uid
    assert len({one.uid, other.uid, one.level.uid, other.level.uid}) == 4
