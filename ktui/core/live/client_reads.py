"""Separate what clients' LISTs read from what a kube-apiserver reads on its own account.

From 1.34 on each watch cache compares itself with etcd every 5 to 7.5 minutes: it LISTs itself once, and etcd
in pages of PAGE objects. These LISTs are in the same counters as those of clients, and a check is counted
when it ends. The server also sends a few LISTs to itself, which are counted as requests too.

LISTs by clients are never more than the requests of clients that LIST: LISTs, and DELETEs of a collection,
which LIST it first. So a check of which a scrape has seen only the beginning is not taken for a client, nor
reads of what the API does not serve (every ten seconds the addresses of all replicas: `apiServerIPInfo`).
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

import msgspec

from ktui.contract.events.base import Count
from ktui.contract.events.live import ResourceCounters, ResourceScrape

PAGE = 10_000  # objects in a page of a consistency check's LIST of etcd
PROBES_COUNTED = range(31, 37)  # minors that count the revision probe of a consistent read as a storage LIST

Grown = Mapping[str, float | None]


class ReadCounters(ResourceCounters, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A replica's counters of a resource, with totals since its first scrape that are derived from them."""

    client_cache_lists: Count | None = None
    client_cache_fetched: Count | None = None
    client_cache_returned: Count | None = None
    client_etcd_lists: Count | None = None
    client_etcd_fetched: Count | None = None
    client_etcd_evaluated: Count | None = None
    client_etcd_returned: Count | None = None
    check_lists: Count | None = None  # LISTs of etcd by consistency checks, a page each
    check_objects: Count | None = None  # read from etcd by consistency checks


_RAW = ResourceCounters.__struct_fields__
_raw = attrgetter(*_RAW)
_SUMMED = (
    "cache_lists", "cache_fetched", "cache_returned", "storage_lists", "etcd_fetched", "etcd_evaluated",
    "etcd_returned", "etcd_lists", "etcd_timed", "consistent_success", "consistent_failure",
    "initializations", "lists", "list_errors", "list_rejected", "self_lists", "collection_deletes",
    "checks_ok", "checks_failed", "checks_errored",
)  # fmt: skip
_summed = attrgetter(*_SUMMED)
_CACHE = ("cache_fetched", "cache_returned")
_ETCD = ("etcd_fetched", "etcd_evaluated", "etcd_returned")


def pages(objects: float) -> int:
    """Return in how many LISTs of etcd a consistency check reads a resource."""
    return max(1, -int(-objects // PAGE))


def etcd_lists(grown: Grown, minor: int) -> float | None:
    """Return the LISTs that read objects from etcd, of clients and of the server.

    In 1.31 to 1.36 the counter includes the revision probe of each consistent read, and from 1.34 on a
    rare probe for the resource's size. Neither lists objects, so the list calls are an upper bound too.
    """
    counted = grown.get("storage_lists")
    if counted is None or minor not in PROBES_COUNTED:
        return counted
    probes = (grown.get("consistent_success") or 0.0) + (grown.get("consistent_failure") or 0.0)
    lists = max(0.0, counted - probes)
    requests = (grown.get("lists") or 0.0) - (grown.get("list_errors") or 0.0)
    served = requests - (grown.get("list_rejected") or 0.0) - (grown.get("cache_lists") or 0.0)
    if not grown.get("etcd_fetched"):  # LISTs of nothing, of events for example
        return min(lists, max(0.0, served))
    calls = grown.get("etcd_lists")
    # No call under this resource's name: they are counted under another (custom resources before 1.34).
    if calls is None or not grown.get("etcd_timed"):
        return lists
    if not calls:  # a LIST of one name is a get: each object read is one of them
        return min(lists, grown["etcd_fetched"] or 0.0)
    known = max(0.0, calls - (grown.get("initializations") or 0.0))
    # Names are listed beside collections if requests that succeeded have no other LIST.
    return min(lists, max(known, served))


class Own(msgspec.Struct, frozen=True):
    """The server's reads in a step: how often `ended` ones have read `each` object, and LISTs in `waiting`
    that have not been counted as a check or a request, of at most `most` objects.
    """

    ended: float
    each: float | None
    waiting: float
    most: float = float("inf")


class PlaceReads(msgspec.Struct):
    """The LISTs that one place, the cache or etcd, has served since the first scrape."""

    seen: float = 0.0  # LISTs of all
    lists: float = 0.0  # LISTs of clients
    clients: bool = False  # since the previous scrape there was one
    early: float = 0.0  # LISTs of the server that were counted before the first scrape
    objects: dict[str, float] = msgspec.field(default_factory=dict)  # of clients, by figure
    held: dict[str, float] = msgspec.field(default_factory=dict)  # of LISTs that no counter assigns yet

    def by_clients(self, seen: float, own: float) -> float:
        """Return the LISTs of clients among `seen`, of which `own` are the server's."""
        self.early = max(self.early, own - seen)
        return seen - max(0.0, own - self.early)

    def share_out(self, seen: float, lists: float, own: Own, grown: Grown, figures: tuple[str, ...]) -> None:
        """Divide the objects that were read since the previous scrape between clients and the server.

        Without a LIST of a client all of them are the server's, whatever the number of objects was.
        """
        clients = self.clients = lists > self.lists
        for figure in figures:
            read = self.held.get(figure, 0.0) + (grown.get(figure) or 0.0)
            each = own.each if own.each is not None else read / max(1.0, seen - self.seen)
            rest = read - min(read, own.ended * each)
            held = min(rest, own.waiting * min(each, own.most)) if clients or own.ended else rest
            self.held[figure] = held if own.waiting else 0.0
            if clients:
                self.objects[figure] = self.objects.get(figure, 0.0) + rest - self.held[figure]
        self.seen, self.lists = seen, max(self.lists, lists)


class ClientReads(msgspec.Struct):
    """What was read of one resource at one replica since its first scrape."""

    raw: ResourceCounters | None = None
    totals: dict[str, float | None] = msgspec.field(default_factory=lambda: dict.fromkeys(_SUMMED))
    cache: PlaceReads = msgspec.field(default_factory=PlaceReads)
    etcd: PlaceReads = msgspec.field(default_factory=PlaceReads)
    check_lists: float = 0.0
    check_objects: float = 0.0
    checked: bool = False  # a check has ended since the first scrape
    short: float = 0.0  # requests answered, less the LISTs of clients seen

    def add(self, before: ResourceScrape | None, after: ResourceScrape, minor: int) -> ResourceScrape:
        """Return `after` with ReadCounters; `before` is the previous scrape as it was returned."""
        if before is not None and after.counters == self.raw:
            return msgspec.structs.replace(after, counters=before.counters)
        self.raw = after.counters
        if before is not None:
            self._step(before, after, minor)
        return msgspec.structs.replace(after, counters=self._counters(after.counters))

    def _step(self, before: ResourceScrape, after: ResourceScrape, minor: int) -> None:
        grown: dict[str, float | None] = {}
        for name, old, new in zip(_SUMMED, _summed(before.counters), _summed(after.counters), strict=True):
            if new is None:
                continue
            more = float(new - old if old is not None and new >= old else new if old is not None else 0)
            grown[name] = more
            self.totals[name] = (self.totals[name] or 0.0) + more
        stored = after.gauges.objects if after.gauges.objects is not None else before.gauges.objects
        objects = float(stored) if stored is not None else None
        checks = (grown.get("checks_ok") or 0.0) + (grown.get("checks_failed") or 0.0)
        lists = checks * _pages(before, after, checks, grown.get("etcd_lists"))
        self.check_lists += lists
        self._count(minor, grown=grown, objects=objects, checks=checks, lists=lists)

    def _count(self, minor: int, *, grown: Grown, objects: float | None, checks: float, lists: float) -> None:
        """Count a step with `checks` that have ended, with `lists` of etcd."""
        of = self.totals.get
        early_cache, early_etcd = self.cache.early, self.etcd.early
        seen_cache, seen_etcd = of("cache_lists") or 0.0, etcd_lists(self.totals, minor) or 0.0
        seen_etcd = max(seen_etcd, self.etcd.seen)
        own = of("self_lists") or 0.0
        checked = (of("checks_ok") or 0.0) + (of("checks_failed") or 0.0)
        # A LIST of the server to itself has no resourceVersion: from 1.31 on the cache answers it.
        own_cache = own if minor >= 31 or not minor else max(0.0, own - seen_etcd)
        cache = self.cache.by_clients(seen_cache, checked + own_cache)
        etcd = self.etcd.by_clients(seen_etcd, self.check_lists + own - own_cache)
        waits_cache = waits_etcd = 0.0
        if (requests := of("lists")) is not None:
            most = max(0.0, requests - (of("list_rejected") or 0.0) - own)
            cache, etcd = self._straddling(cache, etcd, most - (of("list_errors") or 0.0), checked)
            most += of("collection_deletes") or 0.0
            excess = max(0.0, cache + etcd - most)
            unfinished = 1 + (of("checks_errored") or 0.0) if of("checks_ok") is not None else 0.0
            waits_cache = min(cache, excess, unfinished)
            waits_etcd = min(etcd, excess - waits_cache)
            waits_cache += min(cache - waits_cache, excess - waits_cache - waits_etcd)
        ended = grown.get("self_lists") or 0.0
        before, early = self.etcd.seen, max(0.0, self.etcd.early - early_etcd) * PAGE
        etcd_own = checks + (0.0 if own_cache else ended)
        if objects and early:
            etcd_own -= min(etcd_own, early / objects)
        reads = Own(etcd_own, objects, waits_etcd, PAGE)
        self.etcd.share_out(seen_etcd, etcd - waits_etcd, reads, grown, _ETCD)
        if checks:
            if not self.etcd.clients and seen_etcd - before == lists:
                objects = (grown.get("etcd_fetched") or 0.0) / checks  # both LISTs have the same objects
            self.check_objects += checks * (objects or 0.0)
        cache_own = checks + (ended if own_cache else 0.0) - max(0.0, self.cache.early - early_cache)
        self.cache.share_out(
            seen_cache, cache - waits_cache, Own(max(0.0, cache_own), objects, waits_cache), grown, _CACHE
        )

    def _straddling(self, cache: float, etcd: float, least: float, checked: float) -> tuple[float, float]:
        """Return the LISTs of clients, more if a check that has ended began before the first scrape."""
        short = least - cache - etcd
        if checked and not self.checked and short > max(0.0, self.short):
            missing = short - max(0.0, self.short)
            more = min(1.0, missing)
            self.cache.early += more
            self.etcd.early += min(missing - more, self.check_lists)
            cache, etcd = cache + more, etcd + min(missing - more, self.check_lists)
        self.checked = self.checked or bool(checked)
        self.short = short
        return cache, etcd

    def _counters(self, raw: ResourceCounters) -> ReadCounters:
        totals: dict[str, tuple[int | None, float]] = {
            "client_cache_lists": (raw.cache_lists, self.cache.lists),
            "client_etcd_lists": (raw.storage_lists, self.etcd.lists),
            "check_lists": (raw.checks_ok, self.check_lists),
            "check_objects": (raw.checks_ok, self.check_objects),
        }
        for place, figures in ((self.cache, _CACHE), (self.etcd, _ETCD)):
            totals |= {
                f"client_{name}": (getattr(raw, name), place.objects.get(name, 0.0)) for name in figures
            }
        derived = {name: None if known is None else round(total) for name, (known, total) in totals.items()}
        return ReadCounters(**dict(zip(_RAW, _raw(raw), strict=True)), **derived)


def _pages(before: ResourceScrape, after: ResourceScrape, checks: float, calls: float | None) -> int:
    """Return the pages of each of `checks`; the count of objects may pass a multiple of PAGE meanwhile."""
    counts = [scrape.gauges.objects for scrape in (before, after) if scrape.gauges.objects is not None]
    possible = sorted({pages(count) for count in counts}) or [1]
    if not checks or calls is None:
        return possible[-1]
    return min(possible, key=lambda number: abs(calls - checks * number))
