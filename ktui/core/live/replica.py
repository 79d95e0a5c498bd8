"""The scrapes that are kept of one kube-apiserver process."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from ktui.contract.events.live import (
    CacheProbe,
    LevelScrape,
    LevelsDump,
    ReplicaDown,
    ReplicaScrape,
    RequestsDump,
    ResourceScrape,
)
from ktui.core.live.client_reads import ClientReads

KEPT_SECONDS = 120.0  # of scrapes, and the first one: rates look back a minute

Scrape = ResourceScrape | LevelScrape


class ScrapeSeries(msgspec.Struct):
    """The scrapes of one resource or level of one replica, oldest first."""

    points: deque[Any] = msgspec.field(default_factory=deque)
    first: Any = None  # the first scrape, even if `points` no longer has it
    reads: ClientReads = msgspec.field(default_factory=ClientReads)  # for a resource

    def add(self, scrape: Scrape | ReplicaScrape) -> None:
        self.first = self.first or scrape
        self.points.append(scrape)
        while len(self.points) > 2 and self.points[1].at <= scrape.at - KEPT_SECONDS:
            self.points.popleft()

    @property
    def last(self) -> Any:
        return self.points[-1]

    def ends(self, seconds: float | None) -> tuple[Any, Any]:
        """Return the scrape `seconds` before the last one (None: the first one), and the last one."""
        first, last = self.first, self.last
        if seconds is not None:
            for point in self.points:
                if point.at > last.at - seconds:
                    break
                first = point
        return first, last


class ReplicaRow(msgspec.Struct):
    """One process: the time of its first scrape (Unix seconds), and what its scrapes reported."""

    first: float
    scrape: ReplicaScrape
    resources: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    levels: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    scrapes: ScrapeSeries = msgspec.field(default_factory=ScrapeSeries)  # of the process itself
    down: ReplicaDown | None = None  # since its last answer it has not answered
    dump: RequestsDump | None = None
    levels_dump: LevelsDump | None = None
    probes: dict[str, CacheProbe] = msgspec.field(default_factory=dict)  # the newest of each resource

    @property
    def name(self) -> str:
        return self.scrape.replica

    @property
    def minor(self) -> int:
        """The Kubernetes minor version; 0 if unknown."""
        minor = self.scrape.version.partition(".")[2]
        return int(minor) if minor.isdecimal() else 0
