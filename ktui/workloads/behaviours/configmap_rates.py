"""The number of GETs of ConfigMaps that kubelets send per second: the formula, by strategy and kubelet
version."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.workloads.behaviours.object_store import REFERENCES_ONCE_SINCE, ttl_of

# A pod is synchronised again after syncFrequency times a random factor between these.
LEAST_FACTOR, MOST_FACTOR = 1.0, 1.5


@dataclass(frozen=True, slots=True)
class KubeletFleet:
    """A cluster's kubelets. `sync` is syncFrequency in seconds.

    `updates` are further syncs of a pod per second (PLEG, changes); `cluster` is the number of nodes of the
    whole cluster, which decides the TTL.
    """

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
        """Accesses of volumes to objects per second, on all nodes."""
        return self.nodes * self.pods * self.references * (1 / self.mean_sync + self.updates)

    @property
    def ttl(self) -> float:
        return ttl_of(self.cluster)

    @property
    def refresh_interval(self) -> float:
        """Mean seconds between two refreshes of an object: its TTL, then the wait for an access.

        The pod that caused the last refresh accesses it only after syncFrequency; other pods, and updates, at
        any time.
        """
        access = 1 / (1 / self.mean_sync + self.updates)  # mean time between the accesses of one pod
        pods = self.pods * self.references / self.objects  # that refer to the same object
        if self.updates:
            return self.ttl + access / pods
        if self.ttl > self.sync * LEAST_FACTOR:
            return self.ttl + access / (pods + 1)
        return self.ttl + min(access - self.ttl, access / pods)

    def rates(self) -> tuple[float, float]:
        """GETs per second that go to etcd (no resourceVersion), and that the cache answers
        (resourceVersion=0)."""
        if self.strategy == "Watch":
            return 0.0, 0.0
        if self.strategy == "Get" or self.minor < REFERENCES_ONCE_SINCE:
            return self.accesses, 0.0
        refreshes = self.nodes * self.objects / self.refresh_interval if self.ttl else self.accesses
        return 0.0, min(self.accesses, refreshes)
