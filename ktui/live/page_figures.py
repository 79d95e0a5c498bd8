"""Convert a page of metrics into figures by resource, by priority level, and of the process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ktui.client.metrics_page import Sample
from ktui.contract.events.live import (
    CallTime,
    LevelCounters,
    LevelGauges,
    LevelScrape,
    ReplicaScrape,
    ResourceCounters,
    ResourceGauges,
    ResourceScrape,
)
from ktui.live.families import ALL, VERBS, Family, Reported, reported, resource_of, self_requested

MOST = (1 << 63) - 1
MOST_CALLED = 500  # webhooks, and admission plugins
_READS = {"get": "etcd_gets", "list": "etcd_lists", "listStream": "etcd_lists"}
_WRITES = frozenset(("create", "update", "delete"))
_SCOPES = {"cluster": 2, "namespace": 4}  # of collections: where their figures begin in `durations`
_UNIFIED = "watchcache"  # 1.37: LISTs of the cache are counted under the storage's names
_FROM_STORAGE = {
    "storage_lists": "cache_lists", "etcd_fetched": "cache_fetched", "etcd_returned": "cache_returned"
}  # fmt: skip

Numbers = dict[str, float]


class ScrapePage(msgspec.Struct):
    """The figures of one scrape. `process` has start time, memory and others by figure."""

    resources: dict[str, ResourceScrape]
    levels: dict[str, LevelScrape]
    process: Numbers
    gates: dict[str, bool]
    version: str = ""  # "1.36"; "" if the page does not have it
    admission: dict[str, dict[str, CallTime]] = msgspec.field(default_factory=dict)  # webhooks, plugins
    counted: Numbers = msgspec.field(default_factory=dict)  # all counters by a unique name

    def events(self, replica: ReplicaScrape) -> list[Any]:
        """Return the events of the replica's resources and levels, then `replica` itself."""
        name = replica.replica
        parts = [*self.resources.values(), *self.levels.values()]
        return [*(msgspec.structs.replace(part, replica=name) for part in parts), replica]

    def count(self) -> None:
        """Fill `counted` with all counters, which only grow while the process lives."""
        grown = {"cpu": self.process.get("cpu", 0.0)}
        named: Iterable[tuple[str, Any]] = (
            *((f"resource {name}", scrape.counters) for name, scrape in self.resources.items()),
            *((f"level {name}", scrape.counters) for name, scrape in self.levels.items()),
        )
        for name, counters in named:
            for figure in counters.__struct_fields__:
                value = getattr(counters, figure)
                if isinstance(value, (int, float)):
                    grown[f"{name} {figure}"] = value
        self.counted = grown


def page_of(samples: Iterable[Sample], families: Iterable[str], minor: int) -> ScrapePage:
    """Convert the samples of a page; `minor` is the server's (0: unknown)."""
    samples = list(samples)
    page = _Reader(samples, reported(families, minor)).page()
    page.count()
    return page


class _Reader:
    """Sums samples by resource and level."""

    def __init__(self, samples: list[Sample], reported: Reported) -> None:
        self._reported = reported
        self._samples = samples
        # 1.37 still has the deprecated families of the cache: the same LISTs must not count twice.
        self._unified = any(sample.labels.get("storage") == _UNIFIED for sample in samples)
        self._resources: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))
        self._gauges: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))
        self._levels: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))
        self._level_gauges: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))
        self._buckets: dict[str, Numbers] = defaultdict(lambda: defaultdict(float))
        self._process: Numbers = {}
        self._admission: dict[str, dict[str, list[float]]] = {"webhooks": {}, "plugins": {}}
        self._gates: dict[str, bool] = {}
        self._version = ""

    def page(self) -> ScrapePage:
        readers = {family.kind: getattr(self, family.kind) for family in ALL}
        for sample in self._samples:
            family, suffix = BY_SAMPLE[sample.name]
            readers[family.kind](family, suffix, sample)
        resources = {name: self._resource(name) for name in sorted({*self._resources, *self._gauges})}
        levels = {name: self._level(name) for name in sorted({*self._levels, *self._level_gauges})}
        admission = {
            kind: {name: _call_time(*numbers) for name, numbers in calls.items()}
            for kind, calls in self._admission.items()
            if kind in self._reported.process
        }
        return ScrapePage(resources, levels, self._process, self._gates, self._version, admission)

    def _resource(self, name: str) -> ResourceScrape:
        numbers = self._resources.get(name, {})
        counted = dict.fromkeys(self._reported.resources, 0.0) | numbers
        if "waits" in numbers and "fast_waits" not in numbers:
            counted.pop("fast_waits", None)  # buckets were removed on the way
        gauges = {"watches": 0.0} if self._reported.watches else {}
        gauges |= self._gauges.get(name, {})
        counters = msgspec.convert(_whole(counted), ResourceCounters)
        held = msgspec.convert(_whole(gauges), ResourceGauges)
        return ResourceScrape(replica="", resource=name, counters=counters, gauges=held)

    def _level(self, name: str) -> LevelScrape:
        counters, figures = LevelCounters.__struct_fields__, self._reported.levels
        counted = {figure: 0.0 for figure in figures if figure in counters} | self._levels.get(name, {})
        gauges = {figure: 0.0 for figure in figures if figure in LevelGauges.__struct_fields__}
        gauges |= self._level_gauges.get(name, {})
        numbers: dict[str, Any] = _whole(counted)
        numbers["wait_buckets"] = _whole(self._buckets.get(name, {}))
        grown, held = msgspec.convert(numbers, LevelCounters), msgspec.convert(_whole(gauges), LevelGauges)
        return LevelScrape(replica="", level=name, counters=grown, gauges=held)

    # One method for each kind of family.

    def counter(self, family: Family, suffix: str, sample: Sample) -> None:
        figure, labels = family.figures[0], sample.labels
        if labels.get("storage") == _UNIFIED:
            if figure not in _FROM_STORAGE:
                return
            figure = _FROM_STORAGE[figure]
        elif figure.startswith("cache_") and self._unified and "cache_list" in family.name:
            return
        numbers = self._of(labels)
        numbers[figure] += sample.value
        if figure == "cache_lists" and labels.get("index"):
            numbers["indexed_lists"] += sample.value

    def by_suffix(self, family: Family, suffix: str, sample: Sample) -> None:
        if suffix != "_bucket" or sample.labels.get("le") in (f"{family.bucket}", f"{family.bucket}.0"):
            figure = family.figure(suffix)
            self._of(sample.labels)[figure] += _scaled(figure, sample.value)

    def consistent(self, family: Family, suffix: str, sample: Sample) -> None:
        success, failure, fallback, rejected = family.figures
        numbers, labels = self._of(sample.labels), sample.labels
        numbers[success if labels.get("success") == "true" else failure] += sample.value
        if labels.get("fallback") == "true":
            numbers[fallback] += sample.value
        elif labels.get("fallback") == "skipped":
            numbers[rejected] += sample.value

    def requests(self, family: Family, suffix: str, sample: Sample) -> None:
        if sample.labels.get("subresource"):
            return
        verb, code = sample.labels.get("verb", ""), sample.labels.get("code", "")
        numbers, failed = self._of(sample.labels), code[:1] in ("4", "5")
        if verb in VERBS:
            numbers[VERBS[verb]] += sample.value
        if verb == "LIST" and failed:
            numbers["list_rejected" if code == "429" else "list_errors"] += sample.value
        elif verb == "GET" and failed and code not in ("404", "429"):
            numbers["get_errors"] += sample.value
        elif VERBS.get(verb) == "deletes" and sample.labels.get("scope") in _SCOPES and code[:1] != "4":
            numbers["collection_deletes"] += sample.value

    def terminations(self, family: Family, suffix: str, sample: Sample) -> None:
        if sample.labels.get("code") != "429":  # these are counted as rejected
            self._of(sample.labels)[family.figures[0]] += sample.value

    def durations(self, family: Family, suffix: str, sample: Sample) -> None:
        if sample.labels.get("subresource"):
            return
        scope = _SCOPES.get(sample.labels.get("scope", ""))
        numbers, total = self._of(sample.labels), suffix == "_sum"
        for first in (0, scope):
            if first is not None:
                figure = family.figures[first + total]
                numbers[figure] += _scaled(figure, sample.value)

    def by_label(self, family: Family, suffix: str, sample: Sample) -> None:
        if figure := family.of(sample.labels):
            self._of(sample.labels)[figure] += sample.value

    def self_requests(self, family: Family, suffix: str, sample: Sample) -> None:
        if sample.labels.get("verb") == "LIST" and not sample.labels.get("subresource"):
            self._resources[self_requested(sample.labels)][family.figures[0]] += sample.value

    def etcd(self, family: Family, suffix: str, sample: Sample) -> None:
        operation = sample.labels.get("operation", "")
        numbers = self._of(sample.labels)
        if suffix == "_sum":
            numbers["etcd_ms"] += sample.value * 1000
            return
        numbers["etcd_timed"] += sample.value
        figure = _READS.get(operation) or ("etcd_writes" if operation in _WRITES else "")
        if figure:
            numbers[figure] += sample.value

    def gauge(self, family: Family, suffix: str, sample: Sample) -> None:
        if sample.value >= 0:  # -1: the server could not count
            self._gauges[resource_of(sample.labels)][family.figures[0]] = sample.value

    def gauge_sum(self, family: Family, suffix: str, sample: Sample) -> None:
        if not sample.labels.get("subresource"):
            self._gauges[resource_of(sample.labels)][family.figures[0]] += max(0.0, sample.value)

    def level(self, family: Family, suffix: str, sample: Sample) -> None:
        level = _level_of(sample)
        if suffix == "_bucket":
            self._buckets[level][sample.labels.get("le", "")] += sample.value
        else:
            for figure in filter(None, (family.figure(suffix), family.of(sample.labels))):
                self._levels[level][figure] += _scaled(figure, sample.value)

    def level_gauge(self, family: Family, suffix: str, sample: Sample) -> None:
        self._level_gauges[_level_of(sample)][family.figures[0]] = max(0.0, sample.value)

    def level_gauge_sum(self, family: Family, suffix: str, sample: Sample) -> None:
        # In some minors two families report the same figure: each is summed separately, the later one counts.
        numbers = self._level_gauges[_level_of(sample)]
        own = f"{family.name} {family.figures[0]}"
        numbers[own] += max(0.0, sample.value)
        numbers[family.figures[0]] = numbers[own]

    def process(self, family: Family, suffix: str, sample: Sample) -> None:
        if figure := family.of(sample.labels) if family.label else family.figures[0]:
            added = self._process.get(figure, 0.0) if figure == "hidden_metrics" else 0.0
            self._process[figure] = sample.value + added

    def admission(self, family: Family, suffix: str, sample: Sample) -> None:
        calls = self._admission[family.figures[0]]
        name = sample.labels.get("name", "")
        if name not in calls and len(calls) >= MOST_CALLED:
            return
        call = calls.setdefault(name, [0.0, 0.0, 0.0])
        if suffix == "_sum":
            call[1] += sample.value * 1000
        else:
            call[0] += sample.value
            call[2] += sample.value if sample.labels.get("rejected") == "true" else 0.0

    def build(self, family: Family, suffix: str, sample: Sample) -> None:
        major, minor = sample.labels.get("major", ""), sample.labels.get("minor", "").rstrip("+")
        if major.isdecimal() and minor.isdecimal():
            self._version = f"{major}.{minor}"

    def gate(self, family: Family, suffix: str, sample: Sample) -> None:
        if (name := sample.labels.get("name", "")) and len(self._gates) < 2_000:
            self._gates[name] = sample.value == 1

    def _of(self, labels: Mapping[str, str]) -> Numbers:
        return self._resources[resource_of(labels)]


BY_SAMPLE = {f"{family.name}{suffix}": (family, suffix) for family in ALL for suffix in family.samples}


def _call_time(calls: float, ms: float, rejected: float) -> CallTime:
    counts = [int(value) if 0 <= value < MOST else 0 for value in (calls, rejected)]
    return CallTime(counts[0], round(ms, 3) if 0 <= ms < 1e15 else 0.0, counts[1])


def _level_of(sample: Sample) -> str:
    return sample.labels.get("priority_level", "")


def _scaled(figure: str, value: float) -> float:
    """Convert seconds, which metrics use, into milliseconds for figures in ms."""
    return value * 1000 if figure.endswith("_ms") else value


def _whole(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return counts as integers; values that are negative or too large for an event are left out."""
    kept: dict[str, float] = {}
    for name, value in numbers.items():
        if 0 <= value < (1e15 if name.endswith("_ms") else MOST):
            kept[name] = round(value, 3) if name.endswith("_ms") else int(value)
    return kept
