"""The size of the demo cluster and the workloads in it, computed once from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

SYSTEM_NAMESPACES = ("default", "kube-system", "kube-node-lease", "kube-public")
TEAM_NAMESPACES = ("shop", "payments", "search", "media", "analytics", "ml", "platform", "staging")
APP_NAMES = ("web", "api", "cart", "checkout", "catalog", "worker", "indexer", "mailer", "ledger", "session")
TIERS = ("frontend", "backend", "data", "batch")
DAEMONS = ("cilium", "kube-proxy")
ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")


@dataclass(frozen=True, slots=True)
class DemoSize:
    """Size of the cluster that `ktui seed` creates: at least 1 node, and 1 namespace next to the system's."""

    pods: int = 2_000
    nodes: int = 60
    namespaces: int = 12
    seed: int = 1


@dataclass(frozen=True, slots=True)
class App:
    """One Deployment with its ReplicaSet, Service, ConfigMap and pods."""

    namespace: str
    name: str
    tier: str
    replicas: int
    template_hash: str
    image: str

    @property
    def labels(self) -> dict[str, str]:
        return {"app": self.name, "tier": self.tier}

    @property
    def pod_labels(self) -> dict[str, str]:
        return {**self.labels, "pod-template-hash": self.template_hash}

    @property
    def replica_set(self) -> str:
        return f"{self.name}-{self.template_hash}"

    def pod_name(self, ordinal: int) -> str:
        return f"{self.replica_set}-{_suffix(ordinal)}"


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Every name in the demo cluster."""

    size: DemoSize
    namespaces: tuple[str, ...]
    nodes: tuple[str, ...]
    apps: tuple[App, ...]

    @property
    def teams(self) -> tuple[str, ...]:
        return tuple(name for name in self.namespaces if name not in SYSTEM_NAMESPACES)

    @property
    def app_pod_count(self) -> int:
        return sum(app.replicas for app in self.apps)

    def node_of(self, index: int) -> str:
        """Return the node of a pod; a prime stride distributes one app's pods over the nodes."""
        return self.nodes[(index * 7) % len(self.nodes)]

    def zone_of(self, node: str) -> str:
        return ZONES[(int(node.removeprefix("node-")) - 1) % len(ZONES)]

    def app_pods(self) -> Iterator[tuple[App, int, str]]:
        """Yield (app, ordinal, node) of every Deployment pod."""
        index = 0
        for app in self.apps:
            for ordinal in range(app.replicas):
                yield app, ordinal, self.node_of(index)
                index += 1


def make_plan(size: DemoSize) -> DemoPlan:
    """Return the plan for `size`; the same size and seed give the same plan."""
    rng = random.Random(size.seed)
    teams = _teams(max(1, size.namespaces - len(SYSTEM_NAMESPACES)))
    nodes = tuple(f"node-{number:0{max(2, len(str(size.nodes)))}d}" for number in range(1, size.nodes + 1))
    daemon_pods = len(DAEMONS) * size.nodes
    wanted = max(0, size.pods - daemon_pods)
    return DemoPlan(size, SYSTEM_NAMESPACES + teams, nodes, tuple(_apps(teams, wanted, rng)))


def _teams(count: int) -> tuple[str, ...]:
    extra = tuple(f"team-{number:03d}" for number in range(count - len(TEAM_NAMESPACES)))
    return (TEAM_NAMESPACES + extra)[:count]


def _apps(teams: tuple[str, ...], pods: int, rng: random.Random) -> Iterator[App]:
    """Yield apps, distributed over the teams, until all pods are used; with realistically skewed sizes."""
    average = max(1, pods // max(1, len(teams) * 6))
    number = 0
    while pods > 0:
        team = teams[number % len(teams)]
        generation, index = divmod(number // len(teams), len(APP_NAMES))
        name = APP_NAMES[index] + (f"-{generation + 1}" if generation else "")
        replicas = min(pods, max(1, int(rng.expovariate(1 / average)) + 1))
        yield App(
            namespace=team, name=name, tier=TIERS[rng.randrange(len(TIERS))], replicas=replicas,
            template_hash=_suffix(rng.randrange(10**9), 10),
            image=f"registry.example/{team}/{name}:v{rng.randrange(1, 40)}",
        )  # fmt: skip
        pods -= replicas
        number += 1


# Kubernetes' alphabet for generated names: without vowels, so that names are not words.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def _suffix(number: int, length: int = 5) -> str:
    """Return `number` as a generated-name suffix, distinct for distinct numbers below 27**length."""
    number = (number * 10_007 + 1_234_567) % 27**length  # 10,007 is prime to 27: a bijection
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)
