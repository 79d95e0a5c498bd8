"""Identify the replica that answered: a load balancer routes each connection to any of them.

A process is identified by its start time and its counters, which never decrease while it lives. Replicas
that were started together have the same start time in metrics, which show tenths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.live.figures import Numbers, ScrapePage

STRAY = 0.01  # share of counters that may decrease on one connection, as those of a deleted resource do


@dataclass(slots=True)
class Known:
    """One process as it was last seen."""

    name: str
    started: float
    counters: Numbers


@dataclass(slots=True)
class Replicas:
    """The processes that have answered so far."""

    known: dict[str, Known] = field(default_factory=dict)

    def identify(self, page: ScrapePage, before: str = "") -> str:
        """Return the name of the replica that sent `page`, and keep its counters.

        `before` is the replica last seen on this connection. The name is new if no known process can have
        these counters now.
        """
        started, counters = page.process.get("started", 0.0), page.counted
        known = self.known.get(before)
        if known is None or not _may_be(known, started, counters, STRAY):
            known = next((item for item in self.known.values() if _may_be(item, started, counters)), None)
        if known is None:
            known = Known(str(len(self.known) + 1), started, counters)
            self.known[known.name] = known
        known.counters = counters
        return known.name

    def may_be(self, name: str, page: ScrapePage) -> bool:
        """True if replica `name` can have sent `page`, newer than all its pages so far."""
        known = self.known.get(name)
        return known is not None and _may_be(known, page.process.get("started", 0.0), page.counted)

    def candidate(self, page: ScrapePage) -> str:
        """Return a known replica that may have sent the page; "" if none. Does not keep the counters."""
        return next((name for name in self.known if self.may_be(name, page)), "")

    def add(self, page: ScrapePage) -> str:
        """Add a new replica, and return its name."""
        name = str(len(self.known) + 1)
        self.known[name] = Known(name, page.process.get("started", 0.0), page.counted)
        return name


def follows(page: ScrapePage, before: ScrapePage) -> bool:
    """True if one process can have sent `before` and then `page`."""
    known = Known("", before.process.get("started", 0.0), before.counted)
    return _may_be(known, page.process.get("started", 0.0), page.counted)


def _may_be(known: Known, started: float, counters: Numbers, stray: float = 0.0) -> bool:
    if known.started != started:
        return False
    back = sum(1 for name, value in counters.items() if value < known.counters.get(name, 0.0))
    return back <= stray * len(counters)
