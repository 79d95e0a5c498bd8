"""What is kept of one scraped process."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from ktui.contract.events.live import (
    CacheProbe,
    LevelScrape,
    LevelsDump,
    ReplicaScrape,
    RequestsDump,
    ResourceScrape,
)

KEPT_SECONDS = 120.0  # of scrapes, beside the first one: rates look back a minute

Scrape = ResourceScrape | LevelScrape


class ScrapeSeries(msgspec.Struct):
    """One resource or level of one replica, oldest scrape first."""

    points: deque[Any] = msgspec.field(default_factory=deque)
    first: Any = None  # of all, kept or not

    def add(self, scrape: Scrape) -> None:
        self.first = self.first or scrape
        self.points.append(scrape)
        while len(self.points) > 2 and self.points[1].at <= scrape.at - KEPT_SECONDS:
            self.points.popleft()

    @property
    def last(self) -> Any:
        return self.points[-1]


class ReplicaRow(msgspec.Struct):
    """One process: when it was scraped first and last."""

    first: float
    scrape: ReplicaScrape
    resources: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    levels: dict[str, ScrapeSeries] = msgspec.field(default_factory=dict)
    dump: RequestsDump | None = None
    levels_dump: LevelsDump | None = None
    probes: dict[str, CacheProbe] = msgspec.field(default_factory=dict)  # the newest by resource

    @property
    def name(self) -> str:
        return self.scrape.replica

    @property
    def minor(self) -> int:
        """0 when the version is not known."""
        minor = self.scrape.version.partition(".")[2]
        return int(minor) if minor.isdecimal() else 0
