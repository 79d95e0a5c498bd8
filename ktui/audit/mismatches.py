"""Compare observed routes with predicted ones, and explain differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from ktui.audit.group import AuditGroup
from ktui.audit.observed import PARTS, STAGES, SlowRequests, TracedRequests
from ktui.audit.predictions import EITHER, VersionPredictions
from ktui.audit.report import Observed, TracedReport
from ktui.kube.versions import Behaviour

_REMARKABLE = 4  # reading the revision is worth a remark from this part of the time on


@dataclass(frozen=True, slots=True)
class _Served:
    """Slow requests by where they were served from. `fallback`: those of `etcd` that waited for the cache."""

    cache: int = 0
    etcd: int = 0
    fallback: int = 0
    unclear: int = 0
    agree: int = 0

    @property
    def differ(self) -> int:
        return self.cache + self.etcd - self.agree

    def __add__(self, other: _Served) -> _Served:
        return _Served(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


def observed_report(group: AuditGroup, predictions: VersionPredictions) -> Observed | None:
    """Return what was observed of a group's slow requests; None if the log has none."""
    if group.slow is None or not group.slow.count:
        return None
    served = _served(group, predictions)
    return _observed(group.slow, served, _cause(group, served, predictions))


def total_observed(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> Observed | None:
    """Return what was observed of the slow requests of all groups; None without any."""
    total, served = SlowRequests(), _Served()
    for group in groups:
        if group.slow is not None:
            total.merge(group.slow)
            served += _served(group, predictions)
    return _observed(total, served, "") if total.count else None


def observed_route(group: AuditGroup) -> str:
    """Return the route that traces describe a group's requests, `cache, etcd` for both; "" without any."""
    if group.traced is None:
        return ""
    return ", ".join(route for route in ("cache", "etcd", "none") if group.traced.of_route(route))


def traced_report(group: AuditGroup, predictions: VersionPredictions) -> TracedReport | None:
    """Return what traces describe a group's requests; None without any."""
    return (
        _traced(group.traced, _agreeing(group, predictions)) if group.traced and group.traced.count else None
    )


def total_traced(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> TracedReport | None:
    """Return what traces describe the requests of all groups; None without any."""
    total, agree, differ = TracedRequests(), 0, 0
    for group in groups:
        if group.traced is not None:
            total.merge(group.traced)
            of_group = _agreeing(group, predictions)
            agree, differ = agree + of_group[0], differ + of_group[1]
    return _traced(total, (agree, differ)) if total.count else None


def _agreeing(group: AuditGroup, predictions: VersionPredictions) -> tuple[int, int]:
    """Return how many traced requests had the predicted route, and how many another one."""
    if group.traced is None:
        return 0, 0
    predicted = predictions.of(group)
    if predicted.elsewhere:
        return 0, 0
    told = {route: group.traced.of_route(route) for route in ("cache", "etcd")}
    agree = sum(count for route, count in told.items() if route in predicted.routes())
    return agree, sum(told.values()) - agree


def _traced(of: TracedRequests, agreeing: tuple[int, int]) -> TracedReport:
    return TracedReport(
        count=of.count,
        cache=of.of_route("cache"),
        etcd=of.of_route("etcd"),
        none=of.of_route("none"),
        untold=of.of_route(""),
        fallback=of.fallback,
        agree=agreeing[0],
        differ=agreeing[1],
        scanned=of.total("scanned"),
        returned=of.total("returned"),
        bytes=of.total("body"),
        probes=of.total("probes") or 0,
        stages={stage: micros / 1000 for stage, micros in zip(STAGES, of.stages, strict=True) if micros},
    )


def _served(group: AuditGroup, predictions: VersionPredictions) -> _Served:
    """Return the sources of slow requests, and how many are the predicted one."""
    predicted = predictions.of(group)
    if group.slow is None or predicted.elsewhere:
        return _Served()
    sources = group.slow.sources
    route, short = predicted.route(), sources["revision"]
    cache, etcd, unclear = sources["cache"], sources["etcd"] + sources["fallback"], 0
    if route == "cache" and predicted.plans[0].probe:
        cache += short
    elif (
        route == "etcd" and predictions.versions[0].minor < 30
    ):  # does not measure the decoding of objects from etcd
        etcd += short
    else:
        unclear = short
    agree = {"cache": cache, "etcd": etcd, EITHER: cache + etcd}.get(route, 0)
    return _Served(cache, etcd, sources["fallback"], unclear, agree)


def _observed(slow: SlowRequests, served: _Served, cause: str) -> Observed:
    parts = {part: getattr(slow, part) / 1000 for part in PARTS}
    return Observed(
        slow=slow.count,
        cache=served.cache,
        etcd=served.etcd,
        unclear=served.unclear,
        agree=served.agree,
        differ=served.differ,
        cause=cause,
        total=slow.total / 1000,
        queue=parts["queue"],
        etcd_time=parts["etcd"],
        encode=parts["encode"],
        write=parts["write"],
        other=parts["other"],
        rest=max(0.0, slow.total / 1000 - sum(parts.values())),
        fallback=served.fallback,
    )


def _cause(group: AuditGroup, served: _Served, predictions: VersionPredictions) -> str:
    """Return what the log proves of requests that were not served from the predicted route; "" if nothing."""
    predicted, behaviour, shape = predictions.of(group), predictions.versions[0], group.key.shape
    plan, slow = predicted.plans[0], group.slow
    if not served.differ:
        slow_probe = slow is not None and plan.probe and slow.etcd * _REMARKABLE >= slow.total
        return "reading etcd's current revision (one key) took long: etcd was slow" if slow_probe else ""
    if predicted.route() == "etcd":
        return _cache_instead(shape.verb, shape.resource_version, behaviour)
    if plan.error is not None:
        return "the rules refuse this request: --kube-version or --feature-gates differ from the apiserver's"
    if served.fallback == served.differ:
        return "fallback: the watch cache was more than 3 s behind, so objects were read from etcd"
    return (
        f"objects were read from etcd: the apiserver's version or feature gates are not those of "
        f"{behaviour.version} (--kube-version), or the watch cache was not ready"
    )


def _cache_instead(verb: str, resource_version: str, behaviour: Behaviour) -> str:
    if verb == "list" and behaviour.enabled("EtcdRangeStream"):
        return (
            f"read from etcd after all: {behaviour.version} streams LISTs from etcd (RangeStream), and the "
            f"apiserver's "
            "measurement leaves streams out"
        )
    if verb == "list" and resource_version == "unset":
        return (
            "the apiserver is newer: from 1.31 on the cache serves consistent LISTs; compare with "
            "--kube-version"
        )
    return f"the apiserver's version or feature gates are not those of {behaviour.version}: --kube-version"
