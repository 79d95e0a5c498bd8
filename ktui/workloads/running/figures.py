"""What the requests of one phase cost, as the server counted it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ktui.contract.events import RequestFinished
from ktui.core.ranking.histogram import LatencyHistogram
from ktui.core.ranking.total_cost import TotalCost, by_answer
from ktui.core.routes import letter_of

REJECTED = 429
SHARES = (0.5, 0.95, 0.99)
NO_STORAGE = "none"


@dataclass(slots=True)
class LoadFigures:
    """`routes` counts answers by route; `spent` adds up their costs; `times` their durations.

    Watches are not in `times`: they last as long as the client wants. `unanswered` are requests
    that the connection failed.
    """

    spent: TotalCost = field(default_factory=TotalCost)
    routes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    verb_routes: Counter[tuple[str, str]] = field(default_factory=Counter)
    times: LatencyHistogram = field(default_factory=LatencyHistogram)
    levels: Counter[str] = field(default_factory=Counter)  # requests by priority level
    level_seats: dict[str, float] = field(default_factory=dict)  # seat-seconds by priority level
    waits: LatencyHistogram = field(default_factory=LatencyHistogram)  # for the cache to be fresh enough
    unanswered: int = 0

    def add(
        self, verb: str, event: RequestFinished, before: TotalCost | None = None, level: str = ""
    ) -> None:
        """Count an answered request; `before` is what of its cost was added already."""
        if level:
            self.levels[level] += 1
            self.level_seats[level] = self.level_seats.get(level, 0.0) + event.seat_seconds
        spent = by_answer(event)
        if before is not None:
            spent = spent.since(before)
            spent.count = 1
        self.spent.merge(spent)
        self.routes[event.route or NO_STORAGE] += 1
        self.statuses[event.status] += 1
        self.verbs[verb] += 1
        self.verb_routes[verb, event.route] += 1
        if verb != "WATCH":
            self.times.add(round(event.ms * 1000))
            self.waits.add(round(event.phases.get("wait", 0.0) * 1000))

    def merge(self, other: LoadFigures) -> None:
        self.spent.merge(other.spent)
        self.routes.update(other.routes)
        self.statuses.update(other.statuses)
        self.verbs.update(other.verbs)
        self.verb_routes.update(other.verb_routes)
        self.levels.update(other.levels)
        for level, held in other.level_seats.items():
            self.level_seats[level] = self.level_seats.get(level, 0.0) + held
        self.times.merge(other.times)
        self.waits.merge(other.waits)
        self.unanswered += other.unanswered

    @property
    def requests(self) -> int:
        return self.statuses.total()

    @property
    def rejected(self) -> int:
        return self.statuses[REJECTED]

    @property
    def failed(self) -> int:
        """Answers with another error than 429, and requests without an answer."""
        return self.unanswered + sum(
            count for status, count in self.statuses.items() if status >= 400 and status != REJECTED
        )

    @property
    def letters(self) -> Counter[str]:
        """Answers by the letter of their route: C, S, E; `–` when storage was not asked."""
        letters: Counter[str] = Counter()
        for route, count in self.routes.items():
            letters["–" if route == NO_STORAGE else letter_of(route)] += count
        return letters

    def milliseconds(self, share: float) -> float:
        """The duration that `share` of the answers did not exceed."""
        return self.times.percentile(share) / 1000.0

    def document(self, seconds: float) -> dict[str, Any]:
        """As JSON; rates are per second over `seconds`."""
        spent = self.spent
        per = 1.0 / seconds if seconds > 0 else 0.0
        amplification = spent.amplification
        return {
            "requests": self.requests,
            "requests_per_second": round(self.requests * per, 3),
            "routes": dict(sorted(self.routes.items())),
            "verbs": dict(sorted(self.verbs.items())),
            "levels": {
                level: {"requests": count, "mean_seats": round(self.level_seats.get(level, 0.0) * per, 3)}
                for level, count in sorted(self.levels.items())
            },
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "rejected": self.rejected,
            "failed": self.failed,
            "ms": {f"p{round(share * 100)}": round(self.milliseconds(share), 3) for share in SHARES},
            "wait_ms_p95": round(self.waits.percentile(0.95) / 1000.0, 3),
            "etcd_rpcs": spent.etcd_rpcs,
            "etcd_rpcs_per_second": round(spent.etcd_rpcs * per, 3),
            "etcd_keys": spent.etcd_keys,
            "etcd_bytes": spent.etcd_bytes,
            "etcd_bytes_per_second": round(spent.etcd_bytes * per, 1),
            "cached_bytes": spent.cached_bytes,
            "returned_objects": spent.returned,
            "returned_bytes": spent.encoded_bytes,
            "amplification": None if amplification is None else round(amplification, 3),
            "seat_seconds": round(spent.seat_seconds, 3),
            "cpu_ms": round(spent.cpu_ms, 3),
        }
