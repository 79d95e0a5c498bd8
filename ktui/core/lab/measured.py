"""The measured cost of one request, or of all pages of one LIST."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ktui.contract.events import COUNTS, RequestFinished

OBSERVED = "observed"  # `reason_id` where the route was seen in the request's trace

_AS_THEY_ARE = ("path", "status", "route", "reason_id", "reason", "message", "items", "rv", "pages")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of memory: the peak that the server counted for the request, and the growth of the server's
    process meanwhile (None: unknown). `shared`: other requests ran meanwhile."""

    peak_held: int
    process_growth: int | None = None
    shared: bool = False

    def combined(self, other: Memory | None) -> Memory:
        """Return the memory of two pages that were served one after the other."""
        if other is None:
            return self
        growths = [growth for growth in (self.process_growth, other.process_growth) if growth is not None]
        peak, growth = max(self.peak_held, other.peak_held), sum(growths) if growths else None
        return Memory(peak, growth, self.shared or other.shared)


@dataclass(slots=True)
class Measured:
    """The cost of a GET, a LIST, or all pages of a LIST, whose counters, bytes and times are sums.

    `counters` has only what is known: a real kube-apiserver reports less than ktui's
    server. `average_bytes` is the average stored size of the resource's objects, 0
    if unknown. `remarks` are caveats to print next to the numbers.
    """

    path: str
    status: int = 0
    route: str = ""
    first_route: str = ""  # of the first page, for which the prediction is made
    reason_id: str = ""
    reason: str = ""
    items: int = 0
    rv: str = ""
    message: str = ""
    retry_after: int = 0  # seconds, of a 429
    pages: int = 0
    seats: int | None = None
    first_byte_ms: float = 0.0
    total_ms: float = 0.0
    body_bytes: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    cpu_ms: float | None = None
    memory: Memory | None = None
    seat_seconds: float | None = None
    continue_token: str = ""  # of the last page
    remaining: int | None = None
    average_bytes: float = 0.0
    flow_control: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    audit_ids: list[str] = field(default_factory=list)  # one for each page

    @property
    def ok(self) -> bool:
        return 0 < self.status < 400

    @property
    def from_storage(self) -> bool:
        """True if storage was read, even if the answer does not show where: a real kube-apiserver
        does not, and its counters omit reads that found nothing or timed out."""
        return self.ok or self.status in (404, 504)

    @property
    def processed_bytes(self) -> int | None:
        """Bytes that the control plane processed: those read from etcd, and for objects
        from memory their number times the average size. None if unknown."""
        etcd = self.counters.get("etcd_bytes")
        if "cached_bytes" in self.counters:  # counted by the server itself
            return (etcd or 0) + self.counters["cached_bytes"]
        if self.route != "cache" and etcd is not None:  # the objects read are those from etcd
            return etcd
        fetched = self.counters.get("fetched")
        if fetched is None:
            return etcd
        if fetched and not self.average_bytes:
            return etcd or None
        return (etcd or 0) + round(fetched * self.average_bytes)

    @property
    def amplification(self) -> float | None:
        """Bytes processed per byte returned; None if one of them is unknown or 0."""
        processed = self.processed_bytes
        return round(processed / self.body_bytes, 3) if processed is not None and self.body_bytes else None

    def add_account(self, account: RequestFinished) -> None:
        for name in COUNTS:
            self.counters[name] = self.counters.get(name, 0) + getattr(account, name)
        for name, ms in account.phases.items():
            self.phases[name] = round(self.phases.get(name, 0.0) + ms, 3)
        self.cpu_ms = round((self.cpu_ms or 0.0) + account.cpu_ms, 3)
        self.memory = Memory(account.peak_held, account.process_growth, account.shared).combined(self.memory)
        self.seat_seconds = round((self.seat_seconds or 0.0) + account.seat_seconds, 6)

    def add_cost(self, cost: Mapping[str, int]) -> None:
        """Add the cost from the response header of a page whose cost report did not arrive."""
        for name in ("fetched", "evaluated", "returned"):
            if name in cost:
                self.counters[name] = self.counters.get(name, 0) + cost[name]

    def document(self) -> dict[str, Any]:
        """Return the cost as a JSON object; unknown values are null."""
        etcd: dict[str, int | None] = {}
        sizes: dict[str, int | None] = {}
        objects: dict[str, int | None] = {}
        for name in COUNTS:
            if name.startswith("etcd_"):
                etcd[name.removeprefix("etcd_")] = self.counters.get(name)
            elif name.endswith("_bytes"):
                sizes[name.removesuffix("_bytes")] = self.counters.get(name)
            else:
                objects[name] = self.counters.get(name)
        # kube-apiserver counts these reads again, and `processed` includes cached bytes.
        del etcd["gets"], etcd["lists"], sizes["cached"]
        times = {"first_byte": round(self.first_byte_ms, 3), "total": round(self.total_ms, 3)}
        return {
            **{name: getattr(self, name) for name in _AS_THEY_ARE},
            "etcd": etcd,
            "objects": objects,
            "bytes": {**sizes, "received": self.body_bytes, "processed": self.processed_bytes},
            "ms": {**self.phases, **times},
            "cpu_ms": self.cpu_ms,
            "memory": asdict(self.memory) if self.memory is not None else None,
            "seats": self.seats,
            "seat_seconds": self.seat_seconds,
            "amplification": self.amplification,
            **({"flow_control": self.flow_control} if self.flow_control else {}),
            **({"remarks": self.remarks} if self.remarks else {}),
        }


def joined_route(before: str, now: str) -> str:
    """Join the routes of several pages: `cache`, `etcd`, or `cache,etcd` if both served."""
    return ",".join(sorted({*before.split(","), *now.split(",")} - {""}))
