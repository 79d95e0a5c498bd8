"""The kubelet's manager of ConfigMaps and Secrets under the strategy Cache: when it reads, and which version.

A pure model of `objectStore`: references are counted, a new reference drops the cached data, and cached data
is fresh for a TTL that a controller writes into the node's annotation by the size of the cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

# (nodes up to, seconds): TTLs that a controller writes to node.alpha.kubernetes.io/ttl as a cluster grows.
TTL_BY_NODES = ((100, 0.0), (500, 15.0), (1_000, 30.0), (2_000, 60.0))
LARGEST_TTL = 300.0

MOST_RECENT, ANY = "", "0"  # resourceVersion of a read: from etcd, or from the watch cache


def ttl_of(nodes: int) -> float:
    """Return the seconds for which a kubelet's cached object is fresh, in a cluster of this size."""
    return next((seconds for most, seconds in TTL_BY_NODES if nodes <= most), LARGEST_TTL)


@dataclass(slots=True)
class _Item:
    references: int = 0
    held: bool = False
    at: float = 0.0


@dataclass(slots=True)
class ObjectStore:
    """All objects to which the pods of one node refer. `minor` is the kubelet's.

    From 1.29 on it adds references only for names that are new to the pod.
    """

    minor: int
    ttl: float
    _items: dict[str, _Item] = field(default_factory=dict)
    _pods: dict[str, frozenset[str]] = field(default_factory=dict)

    def register_pod(self, pod: str, names: Collection[str]) -> None:
        """Register a pod, as each syncPod does. Up to 1.28 each call drops all data cached for the pod."""
        before, now = self._pods.get(pod, frozenset()), frozenset(names)
        if self.minor <= 28:
            self._add(now)
            self._remove(before)
        else:
            self._add(now - before)
            self._remove(before - now)
        self._pods[pod] = now

    def version_to_read(self, name: str, now: float) -> str | None:
        """Return the resourceVersion of the GET that an access causes; None if the cached data is fresh.

        Raises KeyError if no pod refers to the object.
        """
        item = self._items[name]
        if not item.held:
            return MOST_RECENT
        return None if now < item.at + self.ttl else ANY

    def fetched(self, name: str, now: float) -> None:
        """Record that a GET returned the object. An object to which no pod refers any more is dropped."""
        item = self._items.get(name)
        if item is not None:
            item.held, item.at = True, now

    def _add(self, names: Iterable[str]) -> None:
        for name in names:
            item = self._items.setdefault(name, _Item())
            item.references += 1
            item.held = False

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            item = self._items[name]
            item.references -= 1
            if not item.references:
                del self._items[name]


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
        """GETs per second: to etcd (no resourceVersion), and answered by the cache (resourceVersion=0)."""
        if self.strategy == "Watch":
            return 0.0, 0.0
        if self.strategy == "Get" or self.minor <= 28:
            return self.accesses, 0.0
        refreshes = self.nodes * self.objects / self.refresh_interval if self.ttl else self.accesses
        return 0.0, min(self.accesses, refreshes)
