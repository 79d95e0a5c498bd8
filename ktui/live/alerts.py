"""Alert rules for what `ktui observe` finds: PromQL by Kubernetes version, from the table of findings.

A rule needs the metrics that it reads: one for a metric that the version lacks is left out, with the reason.
Counters of rare events have no line before the first one, and `increase` does not see it: a line that was
not there WINDOW ago, on a server that was, counts in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from ktui.core.live.resource_findings import (
    KINDS,
    LATE_SHARE,
    LEAST_WAITS,
    LIST_MEMORY,
    SLOW_WAIT_MS,
    UNCACHED,
    FindingKind,
    etcd_lists_advice,
    holds_lists,
)
from ktui.live.families import ALL

WINDOW = "10m"
ETCD_OBJECTS = 200  # objects of a resource that clients' LISTs read from etcd per second: a storm
_FAMILIES = {family.name: family for family in ALL}
_MATCHER = r'[a-zA-Z_][a-zA-Z0-9_]*(?:=|!=|=~|!~)"(?:[^"\\\n]|\\.)*+"'
_MATCHERS = re.compile(f"(?:{_MATCHER}(?:, *{_MATCHER})*)?")


class AlertRule(msgspec.Struct, frozen=True):
    """A rule. `measure` is what `expr` compares with a limit, for charts; `unit` is Grafana's."""

    kind: FindingKind
    expr: str
    measure: str
    unit: str
    wait: str
    summary: str
    advice: str
    legend: str

    @property
    def name(self) -> str:
        """`KubeAPIConsistentReadFallback`."""
        return "KubeAPI" + "".join(word.capitalize() for word in self.kind.id.split("-"))

    @property
    def title(self) -> str:
        return self.kind.title[0].upper() + self.kind.title[1:]

    @property
    def severity(self) -> str:
        """As Prometheus' own rules name it."""
        name = self.kind.severity.name.lower()
        return "info" if name == "notice" else name


class LabelMatchersError(ValueError):
    """The label matchers of a user are not PromQL's; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class PromQueries:
    """Writes PromQL for a minor. `selector`: label matchers of the user's, as `job="apiserver"`."""

    minor: int
    selector: str = ""

    def __post_init__(self) -> None:
        if not _MATCHERS.fullmatch(self.selector):
            raise LabelMatchersError(
                f'{self.selector!r} are not label matchers: write them like job="apiserver"'
            )

    @property
    def resource(self) -> str:
        """The labels of a resource: two, group and resource, since 1.34."""
        return "cluster, group, resource" if self.minor >= 34 else "cluster, resource"

    @property
    def subject(self) -> str:
        """A resource in Prometheus' templates: `deployments.apps`."""
        name = "{{ $labels.resource }}"
        return name + "{{ with $labels.group }}.{{ . }}{{ end }}" if self.minor >= 34 else name

    def of(self, metric: str, *matchers: str) -> str:
        """Return the series of a metric."""
        chosen = ", ".join(part for part in (self.selector, *matchers) if part)
        return f"{metric}{{{chosen}}}" if chosen else metric

    def grown(self, series: str, by: str, window: str = WINDOW) -> str:
        """Return by how much counters of rare events grew, the first event included."""
        there = self.of("up")
        return (
            f"sum by ({by}) (\n"
            f"  increase({series}[{window}]) > 0\n"
            f"  or ({series} unless {series} offset {window})\n"
            f"     and on (job, instance) ({there} offset {window} == 1)\n"
            ")"
        )

    def from_etcd(self) -> str:
        """Return the objects of each resource that LISTs read from etcd, by client or server."""
        matchers = [f'resource!~"{"|".join(UNCACHED)}"']
        if self.minor >= 37:
            matchers.append('storage="etcd"')
        return self.of("apiserver_storage_list_fetched_objects_total", *matchers)

    def by_clients(self, seconds: int = 600) -> str:
        """Return the objects that clients' LISTs read from etcd per second, by resource.

        A consistency check reads all objects. One per server may have read them, and be counted only later.
        """
        by = self.resource
        read = f"sum by ({by}) (increase({self.from_etcd()}[{WINDOW}]))"
        if not has("apiserver_storage_consistency_checks_total", self.minor):
            return f"{read} / {seconds}"
        checks = self.of("apiserver_storage_consistency_checks_total", 'status=~"success|failure"')
        objects = self.of("apiserver_resource_objects" if self.minor >= 34 else "apiserver_storage_objects")
        return (
            "(\n"
            f"  {read}\n"
            "  - (\n"
            f"    (sum by ({by}) (increase({checks}[{WINDOW}])) + count by ({by}) ({objects}))\n"
            f"      * max by ({by}) ({objects})\n"
            f"    or {read} * 0\n"
            "  )\n"
            f") / {seconds}"
        )


def has(metric: str, minor: int) -> bool:
    family = _FAMILIES[metric]
    return family.since <= minor <= family.until


Made = tuple[str, str]  # measure, expression


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How to make a rule. `since`: the minor from which on the metric has what the rule looks at."""

    id: str
    metrics: tuple[str, ...]
    make: Callable[[PromQueries], Made]
    subject: str  # "resource" | "level" | "instance"
    value: str  # a template with the value
    unit: str = "short"
    wait: str = "0m"
    since: int = 0


def _events(metric: str, *matchers: str) -> Callable[[PromQueries], Made]:
    def make(q: PromQueries) -> Made:
        series = q.of(metric, *matchers)
        return f"sum by ({q.resource}) (increase({series}[{WINDOW}]))", q.grown(series, q.resource)

    return make


def _etcd_lists(q: PromQueries) -> Made:
    measure = q.by_clients()
    return measure, f"{measure} > {ETCD_OBJECTS}"


def _slow_reads(q: PromQueries) -> Made:
    by, name = q.resource, "apiserver_watch_cache_read_wait_seconds"

    def sums(suffix: str, *matchers: str) -> str:
        return f"sum by ({by}) (increase({q.of(name + suffix, *matchers)}[{WINDOW}]))"

    count, fast = sums("_count"), sums("_bucket", 'le=~"1|1.0"')
    measure = f"{sums('_sum')}\n  / ({count} > 0)"
    expr = (
        f"(\n  {measure} >= {SLOW_WAIT_MS / 1000:g}\n"
        f"  or {measure}\n"
        f"     and {count} - {fast} > {count} * {LATE_SHARE:g}\n"
        f")\nand {count} >= {LEAST_WAITS}"
    )
    if q.minor >= 31:  # the rules of waits that timed out have these
        late = q.of("apiserver_watch_cache_consistent_read_total", 'fallback=~"true|skipped"')
        expr += f"\nunless {q.grown(late, by)}"
    return measure, expr


def _check_errors(q: PromQueries) -> Made:
    def ended(status: str) -> str:
        series = q.of("apiserver_storage_consistency_checks_total", f'status=~"{status}"')
        return f"sum by ({q.resource}) (increase({series}[30m]))"

    errors, compared = ended("error"), ended("success|failure")
    return errors, f"{errors} > ({compared} or {errors} * 0)\nand {errors} > 1"


def _list_memory(q: PromQueries) -> Made:
    by = "cluster, job, instance"
    labels = f"{by}, group, version, resource, scope"

    def rate(metric: str) -> str:
        series = q.of(metric, 'verb="LIST"')
        return f"sum by ({labels}) (rate({series}[{WINDOW}]))"

    took = "apiserver_request_duration_seconds"
    measure = (
        f"sum by ({by}) (\n"
        f"  {rate('apiserver_response_sizes_sum')}\n"
        f"  * {rate(took + '_sum')}\n"
        f"  / ({rate(took + '_count')} > 0)\n"
        f")\n/ sum by ({by}) ({q.of('process_resident_memory_bytes')})"
    )
    return measure, f"{measure} >= {LIST_MEMORY:g}"


def _rejected(q: PromQueries) -> Made:
    series = q.of("apiserver_flowcontrol_rejected_requests_total")
    by = "cluster, priority_level"
    return f"sum by ({by}) (increase({series}[5m]))", q.grown(series, by, "5m")


def _queued(q: PromQueries) -> Made:
    queued = f"sum by (cluster, priority_level) ({q.of('apiserver_flowcontrol_current_inqueue_requests')})"
    return queued, f"{queued} > 0"


_CONSISTENT = "apiserver_watch_cache_consistent_read_total"
_CHECKS = "apiserver_storage_consistency_checks_total"
_FILL = "apiserver_watch_cache_initialization_errors_total"
_SLOW = "apiserver_terminated_watchers_total"
_NUMBER = '{{ $value | printf "%.0f" }}'
_RECIPES = (
    _Recipe("consistent-read-fallback", (_CONSISTENT,), _events(_CONSISTENT, 'fallback="true"'), "resource",
            f"{_NUMBER} in 10 minutes"),
    _Recipe("consistent-read-rejected", (_CONSISTENT,), _events(_CONSISTENT, 'fallback="skipped"'),
            "resource",
            f"{_NUMBER} in 10 minutes", since=37),
    _Recipe("etcd-lists", ("apiserver_storage_list_fetched_objects_total",), _etcd_lists, "resource",
            f"{_NUMBER} objects/s, consistency checks not counted", wait="10m"),
    _Recipe("cache-inconsistent", (_CHECKS,), _events(_CHECKS, 'status="failure"'), "resource",
            f"{_NUMBER} in 10 minutes"),
    _Recipe("cache-check-error", (_CHECKS,), _check_errors, "resource",
            f"{_NUMBER} in 30 minutes, more than compared", wait="15m"),
    _Recipe("slow-consistent-reads", ("apiserver_watch_cache_read_wait_seconds",), _slow_reads, "resource",
            "{{ $value | humanizeDuration }} on average", "s", "10m"),
    _Recipe("cache-cannot-fill", (_FILL,), _events(_FILL), "resource",
            f"{_NUMBER} times in 10 minutes"),
    _Recipe("slow-watchers", (_SLOW,), _events(_SLOW), "resource",
            f"{_NUMBER} in 10 minutes"),
    _Recipe("list-memory", ("apiserver_response_sizes", "apiserver_request_duration_seconds",
                            "process_resident_memory_bytes"), _list_memory, "instance",
            "{{ $value | humanizePercentage }} of it, estimated", "percentunit", "10m"),
    _Recipe("rejected", ("apiserver_flowcontrol_rejected_requests_total",), _rejected, "level",
            f"{_NUMBER} in 5 minutes", wait="5m"),
    _Recipe("queue-never-empty", ("apiserver_flowcontrol_current_inqueue_requests",), _queued, "level",
            f"{_NUMBER} now, for 10 minutes", wait="10m"),
)  # fmt: skip


def alert_rules(queries: PromQueries) -> list[AlertRule]:
    """Return the rules of the minor: it has their metrics, and may have what they find."""
    return [_rule(recipe, queries) for recipe in _RECIPES if not _absent(recipe, queries.minor)]


def left_out(minor: int) -> Iterator[str]:
    """Yield why rules are left out, a sentence each."""
    for recipe in _RECIPES:
        if why := _absent(recipe, minor):
            yield f"{recipe.id} is left out: Kubernetes 1.{minor} {why}"


def _absent(recipe: _Recipe, minor: int) -> str:
    """Return why a minor has no such rule (the lacking metric, and the minors with it); "" if it has it."""
    if recipe.id == "list-memory" and not holds_lists(minor):
        return "streams the answers of LISTs (from 1.33 on)"
    for name in recipe.metrics:
        family = _FAMILIES[name]
        since = max(family.since, recipe.since)
        if minor < since:
            what = KINDS[recipe.id].metric if recipe.since > family.since else name
            return f"has no {what} (from 1.{since} on)"
        if minor > family.until:
            return f"has no {name} (up to 1.{family.until})"
    return ""


def _rule(recipe: _Recipe, queries: PromQueries) -> AlertRule:
    kind = KINDS[recipe.id]
    measure, expr = recipe.make(queries)
    subject, legend = {
        "resource": (queries.subject, "{{resource}}"),
        "level": ("priority level {{ $labels.priority_level }}", "{{priority_level}}"),
        "instance": ("{{ $labels.instance }}", "{{instance}}"),
    }[recipe.subject]
    advice = kind.advice or etcd_lists_advice(queries.minor, fallback=False)
    summary = f"{subject}: {kind.title} ({recipe.value})"
    return AlertRule(kind, expr, measure, recipe.unit, recipe.wait, summary, advice, legend)
