"""Which replica answered: a load balancer gives each connection to any of them.

A process is known by its start time and by its counters, which never go back while it lives: replicas that
were started together have the same start time to the tenth of a second that metrics show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.live.figures import Numbers, ScrapePage

STRAY = 0.01  # share of counters that may go back on one connection: those of a deleted resource start again


@dataclass(slots=True)
class Known:
    """One process as it was last seen."""

    name: str
    started: float
    counters: Numbers


@dataclass(slots=True)
class Replicas:
    """All processes that have answered so far."""

    known: dict[str, Known] = field(default_factory=dict)

    def identify(self, page: ScrapePage, before: str = "") -> str:
        """The name of the replica that sent `page`; `before` is the one last met on this connection.

        Remembers its counters. A name is new when no known process can have these counters by now.
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
        """Whether that replica can have sent the page, which is newer than all that it has sent."""
        known = self.known.get(name)
        return known is not None and _may_be(known, page.process.get("started", 0.0), page.counted)

    def candidate(self, page: ScrapePage) -> str:
        """A known replica that may have sent the page, "" for none; nothing is remembered."""
        return next((name for name in self.known if self.may_be(name, page)), "")

    def add(self, page: ScrapePage) -> str:
        """Another replica, whatever its counters say."""
        name = str(len(self.known) + 1)
        self.known[name] = Known(name, page.process.get("started", 0.0), page.counted)
        return name


def follows(page: ScrapePage, before: ScrapePage) -> bool:
    """Whether one process can have sent `before` and then `page`."""
    known = Known("", before.process.get("started", 0.0), before.counted)
    return _may_be(known, page.process.get("started", 0.0), page.counted)


def _may_be(known: Known, started: float, counters: Numbers, stray: float = 0.0) -> bool:
    if known.started != started:
        return False
    back = sum(1 for name, value in counters.items() if value < known.counters.get(name, 0.0))
    return back <= stray * len(counters)
