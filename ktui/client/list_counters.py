"""The cost of one LIST according to a kube-apiserver's /metrics: the increase of its counters.

The counters are for the whole server: other clients may have increased them too.
Their names and labels differ between versions (kube-apiserver 1.23–1.37).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ktui.client.metrics_page import samples_of
from ktui.kube.resources import BUILTIN

Labels = Mapping[str, str]
Counters = dict[tuple[str, tuple[tuple[str, str], ...]], float]

MOST = 1e18  # a counter beyond it is not one
_STORAGE = "apiserver_storage_list"
_CACHE = "apiserver_cache_list"
_STARTED = "process_start_time_seconds"
_ETCD_TOTAL = "etcd_requests_total"
_ETCD_COUNT = "etcd_request_duration_seconds_count"  # for servers before 1.28, which have no total
_NAMES = (
    *(
        f"{family}_{what}"
        for family in (_STORAGE, _CACHE)
        for what in ("total", "fetched_objects_total", "evaluated_objects_total", "returned_objects_total")
    ),
    _ETCD_TOTAL, _ETCD_COUNT, _STARTED,
)  # fmt: skip


def read_counters(page: bytes) -> Counters:
    """Return the counters of LISTs and etcd requests on a page of /metrics, and the process's start."""
    return {
        (name, tuple(labels.items())): value
        for name, labels, value in samples_of(page, *_NAMES)
        if 0 <= value <= MOST
    }


def increase(before: Counters, after: Counters) -> Counters:
    """Return the counters that have increased from `before` to `after`, by how much."""
    grown = {key: value - before.get(key, 0.0) for key, value in after.items()}
    return {key: value for key, value in grown.items() if value > 0}


def same_process(before: Counters, after: Counters) -> bool:
    """True unless the two are known to be of different processes: another replica, or a restart."""
    return before.get((_STARTED, ())) == after.get((_STARTED, ()))


@dataclass(frozen=True, slots=True)
class Subject:
    """The resource of a request, with all the names that metric labels use for it."""

    group: str
    plural: str

    @property
    def id(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def named_by(self, labels: Labels) -> bool:
        """True if the labels name this resource, or no resource."""
        own = [resource for resource in BUILTIN.all() if resource.id == self.id]
        if "resource_prefix" in labels:  # up to 1.33: /pods, /cilium.io/ciliumnodes
            prefixes = {self.plural, f"{self.group}/{self.plural}", *(r.prefix.strip("/") for r in own)}
            return labels["resource_prefix"].strip("/") in prefixes
        if "type" in labels:  # up to 1.33
            kinds = (f"*{r.group.partition('.')[0] or 'core'}.{r.kind}" for r in own)
            return labels["type"].strip("/") in {self.id, self.plural, *kinds}
        if "resource" not in labels:
            return True
        if "group" in labels:
            return (labels["group"], labels["resource"]) == (self.group, self.plural)
        return labels["resource"] in (self.id, self.plural)


@dataclass(frozen=True, slots=True)
class ListCounters:
    """The route and cost of a request, from the increase of the server's counters.

    `others`: the counters grew by more than the request explains, so neither route nor cost is known.
    """

    route: str
    counters: dict[str, int]
    others: bool = False


_NOTHING = ListCounters("", {})
_OTHERS = ListCounters("", {}, others=True)


def account(grown: Counters, subject: Subject, pages: int, items: int | None) -> ListCounters:
    """Return route and cost of a LIST of `pages` with `items` objects (None: not counted).

    The cache's probe of etcd (a storage LIST that fetches nothing) implies no route. If some pages came
    from the cache and others from etcd, both are summed.
    """
    sums = _sums(grown, subject)
    from_cache, from_storage = sums.get(f"{_CACHE}_total", 0), sums.get(f"{_STORAGE}_total", 0)
    cached = from_cache > 0
    stored = from_storage > 0 and not (cached and not sums.get(f"{_STORAGE}_fetched_objects_total"))
    families = [family for family, served in ((_CACHE, cached), (_STORAGE, stored)) if served]
    if not families:
        return _NOTHING

    def of(what: str, *among: str) -> float:
        return sum(sums.get(f"{family}_{what}_objects_total", 0) for family in among)

    # A page is one LIST of the cache and a probe at most, or one LIST of etcd and, in a fallback, a probe.
    too_many = from_cache > pages or from_storage > 2 * pages - from_cache or len(families) > pages
    if too_many or (items is not None and of("returned", *families) != items):
        return _OTHERS
    counters = {
        "fetched": of("fetched", *families),
        "returned": of("returned", *families),
        "etcd_rpcs": _rpcs(sums),
        "etcd_keys": of("fetched", _STORAGE) if stored else 0,
    }
    if families == [_STORAGE]:
        counters["evaluated"] = of("evaluated", _STORAGE)
    route = ",".join(word for word, served in (("cache", cached), ("etcd", stored)) if served)
    return ListCounters(route, {name: round(value) for name, value in counters.items()})


def account_of_get(grown: Counters, subject: Subject) -> ListCounters:
    """Return `etcd` if one key was read during a GET; no counter shows that the cache answered one."""
    sums, gets = _sums(grown, subject), _sums(grown, subject, operation="get")
    keys = _rpcs(gets)
    if keys > 1 or sums.get(f"{_CACHE}_total") or sums.get(f"{_STORAGE}_total"):
        return _OTHERS
    return ListCounters("etcd", {"etcd_rpcs": 1}) if keys else _NOTHING


def account_of_watch(grown: Counters, subject: Subject) -> ListCounters:
    """Return the cost of a WATCH: only its etcd requests. No counter shows where its events came from."""
    sums = _sums(grown, subject)
    if sums.get(f"{_CACHE}_total") or sums.get(f"{_STORAGE}_total", 0) > 1:  # 1: its revision probe
        return _OTHERS
    rpcs = round(_rpcs(sums))
    return ListCounters("", {"etcd_rpcs": rpcs} if rpcs else {})


def _sums(grown: Counters, subject: Subject, operation: str = "") -> dict[str, float]:
    """Sum the increase for this resource by the counter's name; of one etcd `operation` if given."""
    sums: dict[str, float] = {}
    for (name, pairs), value in grown.items():
        labels = dict(pairs)
        if subject.named_by(labels) and operation in ("", labels.get("operation")):
            if labels.get("storage") == "watchcache":  # since 1.37 the cache's LISTs count as storage LISTs
                name = name.replace(_STORAGE, _CACHE)
            sums[name] = sums.get(name, 0.0) + value
    return sums


def _rpcs(sums: dict[str, float]) -> float:
    return sums.get(_ETCD_TOTAL, sums.get(_ETCD_COUNT, 0))
