"""The small cluster of the demo recording, and what is asked of it in half a minute."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.kube.routing.parameters import DecodedToken, TokenState
from tests.questions import Question, asked

# resource, objects, stored bytes, leased
CACHES = (
    ("pods", 3_000, 17_904_100, False),
    ("nodes", 100, 912_400, False),
    ("endpointslices.discovery.k8s.io", 210, 402_310, False),
    ("services", 210, 130_200, False),
    ("configmaps", 340, 1_204_000, False),
    ("secrets", 420, 1_380_500, False),
    ("leases.coordination.k8s.io", 104, 41_600, True),
    ("deployments.apps", 180, 498_600, False),
    ("replicasets.apps", 360, 1_002_900, False),
    ("namespaces", 14, 9_800, False),
    ("ciliumendpoints.cilium.io", 2_900, 6_090_000, False),
    ("ciliumidentities.cilium.io", 160, 96_000, False),
    ("ciliumnodes.cilium.io", 100, 310_000, False),
)
PREFIXES = {
    "pods": "pods",
    "nodes": "minions",
    "endpointslices.discovery.k8s.io": "endpointslices",
    "services": "services/specs",
    "configmaps": "configmaps",
    "secrets": "secrets",
    "leases.coordination.k8s.io": "leases",
    "deployments.apps": "deployments",
    "replicasets.apps": "replicasets",
    "namespaces": "namespaces",
    "ciliumendpoints.cilium.io": "cilium.io/ciliumendpoints",
    "ciliumidentities.cilium.io": "cilium.io/ciliumidentities",
    "ciliumnodes.cilium.io": "cilium.io/ciliumnodes",
}


@dataclass
class Ask:
    """One request of the story and what it costs."""

    after: float  # seconds since START
    client: str
    verb: str
    path: str
    resource: str
    query: str = ""
    question: Question = field(default_factory=asked)
    disabled: bool = False
    namespace: str = ""
    name: str = ""
    fetched: int = 0
    matched: int = 0
    returned: int = 0
    sent: int = 0
    ms: float = 0.4
    wait_ms: float = 0.0
    seats: int = 1
    status: int = 200
    error: str = ""
    open: bool = False  # a WATCH that goes on, or a request still waiting


CEP = "/apis/cilium.io/v2/ciliumendpoints"
STORY = (
    Ask(
        0.1,
        "kubelet",
        "GET",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n-004",
        "leases.coordination.k8s.io",
        namespace="kube-node-lease",
        name="n-004",
        fetched=1,
        returned=1,
        sent=421,
        ms=0.9,
    ),
    Ask(
        0.4,
        "kube-scheduler",
        "WATCH",
        "/api/v1/pods",
        "pods",
        "watch=true&resourceVersion=48102&allowWatchBookmarks=true",
        open=True,
    ),
    Ask(
        0.9,
        "kubelet",
        "LIST",
        "/api/v1/pods",
        "pods",
        "fieldSelector=spec.nodeName%3Dn-001&resourceVersion=0",
        asked("0", selectors=True),
        fetched=30,
        matched=30,
        returned=30,
        sent=176_400,
        ms=0.4,
    ),
    Ask(
        1.3,
        "cilium-agent",
        "LIST",
        "/api/v1/services",
        "services",
        "labelSelector=%21service.kubernetes.io%2Fheadless",
        asked("", selectors=True),
        fetched=210,
        matched=198,
        returned=198,
        sent=122_800,
        ms=6.1,
        wait_ms=4.2,
        seats=1,
    ),
    Ask(
        2.0,
        "kubectl",
        "LIST",
        "/api/v1/pods",
        "pods",
        "limit=500",
        asked("", limit=500),
        fetched=501,
        matched=500,
        returned=500,
        sent=2_940_100,
        ms=14.8,
        wait_ms=3.1,
        seats=5,
    ),
    Ask(
        2.2,
        "kubectl",
        "LIST",
        "/api/v1/pods",
        "pods",
        "limit=500&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDgxMDIsInN0YXJ0IjoiZGVmYXVsdC9hcGktMDUwIn0",
        asked("", limit=500, token=DecodedToken(TokenState.VALID, 48_102)),
        fetched=501,
        matched=500,
        returned=500,
        sent=2_941_900,
        ms=3.0,
        seats=5,
    ),
    Ask(
        3.1,
        "argocd",
        "LIST",
        "/api/v1/secrets",
        "secrets",
        "resourceVersion=40000&resourceVersionMatch=Exact",
        asked("40000", match="Exact"),
        fetched=412,
        matched=412,
        returned=412,
        sent=1_342_000,
        ms=21.7,
        seats=4,
    ),
    Ask(
        4.0,
        "kube-state-metrics",
        "LIST",
        "/api/v1/events",
        "events",
        "",
        disabled=True,
        fetched=812,
        matched=812,
        returned=812,
        sent=640_900,
        ms=18.2,
        seats=9,
    ),
    Ask(
        4.4,
        "cilium-operator",
        "LIST",
        CEP,
        "ciliumendpoints.cilium.io",
        "",
        fetched=2_900,
        matched=2_900,
        returned=2_900,
        sent=6_240_000,
        ms=42.6,
        wait_ms=2.4,
        seats=10,
    ),
    Ask(
        5.2,
        "kubelet",
        "LIST",
        "/api/v1/pods",
        "pods",
        "fieldSelector=spec.nodeName%3Dn-017&resourceVersion=0",
        asked("0", selectors=True),
        fetched=31,
        matched=31,
        returned=31,
        sent=181_200,
        ms=0.4,
    ),
    Ask(
        5.9,
        "my-controller",
        "LIST",
        "/apis/apps/v1/deployments",
        "deployments.apps",
        "resourceVersionMatch=Exact",
        asked("", match="Exact"),
        status=422,
        error=(
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "resourceVersionMatch is forbidden unless resourceVersion is provided"
        ),
        ms=0.2,
    ),
    Ask(
        6.6,
        "kubelet",
        "GET",
        "/api/v1/nodes/n-031",
        "nodes",
        "resourceVersion=0",
        name="n-031",
        fetched=1,
        returned=1,
        sent=9_120,
        ms=0.1,
    ),
    Ask(
        7.3,
        "cilium-agent",
        "WATCH",
        CEP,
        "ciliumendpoints.cilium.io",
        "watch=true&resourceVersion=48110",
        open=True,
    ),
    Ask(
        8.0,
        "cilium-agent",
        "LIST",
        "/api/v1/pods",
        "pods",
        "labelSelector=app%3Dapi",
        asked("", selectors=True),
        fetched=3_000,
        matched=250,
        returned=250,
        sent=1_471_000,
        ms=38.4,
        wait_ms=3.6,
        seats=10,
    ),
    Ask(
        8.8,
        "kubectl",
        "LIST",
        "/api/v1/namespaces/team-00/configmaps",
        "configmaps",
        "resourceVersion=48100",
        asked("48100"),
        namespace="team-00",
        fetched=28,
        matched=28,
        returned=28,
        sent=99_000,
        ms=0.5,
    ),
    Ask(
        9.7,
        "kube-controller",
        "LIST",
        "/apis/apps/v1/replicasets",
        "replicasets.apps",
        "resourceVersion=48190",
        asked("48190"),
        open=True,
    ),
)
