"""How many GETs of ConfigMaps kubelets send a second: the formula, by strategy and kubelet version."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.workloads.behaviours.object_store import REFERENCES_ONCE_SINCE, ttl_of

# A pod is synchronised again after syncFrequency times a factor between 1 and 1.5.
LEAST_FACTOR, MOST_FACTOR = 1.0, 1.5


@dataclass(frozen=True, slots=True)
class KubeletFleet:
    """`sync` is syncFrequency in seconds, `updates` further syncs of a pod per second (PLEG, changes),
    `cluster` the nodes of the whole cluster, which decide the TTL."""

    nodes: int
    pods: int
    references: int
    objects: int
    strategy: str
    minor: int
    sync: float
    updates: float
    cluster: int

    @property
    def mean_sync(self) -> float:
        return self.sync * (LEAST_FACTOR + MOST_FACTOR) / 2

    @property
    def accesses(self) -> float:
        """Accesses of volumes to objects per second, of all nodes."""
        return self.nodes * self.pods * self.references * (1 / self.mean_sync + self.updates)

    @property
    def ttl(self) -> float:
        return ttl_of(self.cluster)

    @property
    def refresh_interval(self) -> float:
        """Mean seconds between two refreshes of an object: its TTL, and then the wait for an access.

        An access of the pod that caused the last refresh does not come within syncFrequency; those of other
        pods, and those of updates, come at any time.
        """
        access = 1 / (1 / self.mean_sync + self.updates)  # mean time between those of one pod
        pods = self.pods * self.references / self.objects  # that refer to one object
        if self.updates:
            return self.ttl + access / pods
        if self.ttl > self.sync * LEAST_FACTOR:
            return self.ttl + access / (pods + 1)
        return self.ttl + min(access - self.ttl, access / pods)

    def rates(self) -> tuple[float, float]:
        """GETs per second that go to etcd (no resourceVersion), and those that the cache answers (rv=0)."""
        if self.strategy == "Watch":
            return 0.0, 0.0
        if self.strategy == "Get" or self.minor < REFERENCES_ONCE_SINCE:
            return self.accesses, 0.0
        refreshes = self.nodes * self.objects / self.refresh_interval if self.ttl else self.accesses
        return 0.0, min(self.accesses, refreshes)
