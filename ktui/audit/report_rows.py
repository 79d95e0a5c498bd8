"""The rows of a report: a group of requests, or slow ranges; observed routes compared with predicted ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ktui.audit.group import AuditGroup, RangeKey, SlowGroup
from ktui.audit.observed import PARTS, STAGES, SlowRequests, TracedRequests
from ktui.audit.predictions import EITHER, GroupPrediction, VersionPredictions
from ktui.audit.report import (
    UNKNOWN,
    CheaperVariant,
    Estimated,
    GroupReport,
    Latency,
    Observed,
    Seats,
    SlowReport,
    TimeSpan,
    TracedReport,
)
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.kube.access_pattern import AccessPattern
from ktui.kube.advice import advise
from ktui.kube.explain import cautions
from ktui.kube.routing import sentences
from ktui.kube.versions import Behaviour

FILL_PAGE = 10_000
"""Keys in a page with which kube-apiserver fills a watch cache (and checks it, 1.34+)."""
_MOST = 3


def causes(key: RangeKey, groups: Sequence[AuditGroup], predictions: VersionPredictions) -> list[AuditGroup]:
    """Find what reads such a range from etcd by the rules, and so may be its cause; most frequent first."""
    if key.what == "write":
        return []
    found = [group for group in groups if _plausible(key, group, predictions)]
    return sorted(found, key=lambda group: group.count, reverse=True)[:_MOST]


def _plausible(key: RangeKey, group: AuditGroup, predictions: VersionPredictions) -> bool:
    shape = group.key.shape
    predicted = predictions.of(group)
    if shape.resource != key.resource or predicted.route() != "etcd":
        return False
    single = shape.verb == "get" or shape.narrowing == "name"
    scope = "key" if single else shape.narrowing or ("all" if shape.scope == "all" else "namespace")
    if scope != key.scope:
        return False
    if single or shape.verb == "watch":
        return True
    selective = bool(shape.selectors)
    if bool(shape.continued) != key.later and not selective:
        return False
    # A filtering LIST is read in pages of the limit, doubled each time (1.24+).
    return shape.limit == key.limit or (selective and 0 < shape.limit < key.limit)


ELSEWHERE = "an aggregated API: another server answers, with storage and rules of its own"
NO_QUERY = "the log leaves out query strings: the route depends on resourceVersion, limit and continue"


_OF_SHAPE = (
    "verb", "resource", "subresource", "scope", "selectors", "match", "limit", "continued", "initial_events",
)  # fmt: skip


def group_report(
    rank: int, group: AuditGroup, predictions: VersionPredictions, span: TimeSpan | None
) -> GroupReport:
    shape, predicted = group.key.shape, predictions.of(group)
    request, state = predictions.request(group)
    plan, behaviour = predicted.plans[0], predictions.versions[0]
    known = group.key.query and not predicted.elsewhere
    why = ELSEWHERE if predicted.elsewhere else NO_QUERY
    observed, traced = total_observed([group], predictions), group.traced
    told = (route for route in ("cache", "etcd", "none") if traced is not None and traced.of_route(route))
    return GroupReport(
        rank=rank, client=group.key.client.agent, user=group.key.client.user,
        resource_version=shape.resource_version if group.key.query else UNKNOWN, count=group.count,
        per_second=group.count / span.seconds if span and span.seconds else None,
        latency=_latency(group.took), init_latency=_latency(group.init),
        errors={str(code): count for code, count in sorted(group.codes.items()) if count > 0},
        seats=Seats(group.seats_total / group.seats_count, group.seats_max) if group.seats_count else None,
        route=", ".join(told) or predicted.route(), reason_id=plan.reason_id if known else UNKNOWN,
        reason=sentences.reason(plan) if known else why, etcd_ops=plan.etcd_ops if known else (),
        routes={b.version: predicted.route(i) for i, b in enumerate(predictions.versions)},
        earlier_routes={b.version: predicted.route(i) for i, b in predictions.earlier},
        estimated=_estimated(group, predicted), warnings=cautions(request, plan, behaviour) if known else (),
        cheaper=tuple(
            CheaperVariant(advice.id, advice.why, advice.path, advice.plan.source.route)
            for advice in advise(request, state, behaviour, AccessPattern(account=group.key.client.account))
            if known
        ),
        example=group.example, possible_routes=predicted.routes(),
        observed=replace(observed, cause=_cause(group, observed, predictions)) if observed else None,
        traced=total_traced([group], predictions),
        **{name: getattr(shape, name) for name in _OF_SHAPE},
    )  # fmt: skip


def _estimated(group: AuditGroup, predicted: GroupPrediction) -> Estimated | None:
    cost = predicted.costs[0]
    if cost is None:
        return None
    count, etcd, touched = group.count, cost.etcd, cost.touched
    return Estimated(count * etcd, count * touched, count * cost.processed, etcd, touched)


def _latency(took: LatencyHistogram) -> Latency | None:
    if not took.count:
        return None
    p50, p95, p99 = (took.percentile(share) / 1000 for share in (0.5, 0.95, 0.99))
    buckets = tuple((bound / 1000, count) for bound, count in took.octaves())
    return Latency(p50, p95, p99, took.max / 1000, took.total / 1000, buckets)


def slow_report(slow: SlowGroup, groups: Sequence[AuditGroup], predictions: VersionPredictions) -> SlowReport:
    """Return the row of slow requests; `groups` are in the order of their ranks."""
    key = slow.key
    likeliest = causes(key, groups, predictions)
    probably = [
        f"{group.key.client.agent} {group.key.shape.verb.upper()} {group.example}" for group in likeliest
    ]
    if key.what == "range" and key.scope == "all" and key.limit == FILL_PAGE:
        probably.insert(0, "an apiserver that fills (or, from 1.34 on, checks) its watch cache")
    took = _latency(slow.took)
    assert took is not None  # a group is created with its first request
    return SlowReport(
        *key, count=slow.count, failed=slow.failed, took=took, max_keys=slow.keys if slow.keys >= 0 else None,
        max_bytes=slow.size if slow.size >= 0 else None, probably=tuple(probably),
        ranks=tuple(groups.index(group) + 1 for group in likeliest), example=slow.example,
    )  # fmt: skip


_REMARKABLE = 4  # reading the revision is worth a remark from this part of the time on


def total_observed(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> Observed | None:
    """Return what was observed of the slow requests of these groups; None without any."""
    total, served = SlowRequests(), Counter[str]()
    for group in groups:
        if group.slow is not None:
            total.merge(group.slow)
            served.update(_served(group.slow.sources, predictions.of(group), predictions.versions[0]))
    if not total.count:
        return None
    parts: dict[str, Any] = {part: getattr(total, part) / 1000 for part in PARTS}
    rest = max(0.0, total.total / 1000 - sum(parts.values()))
    parts["etcd_time"] = parts.pop("etcd")
    parts |= {name: served[name] for name in ("cache", "etcd", "fallback", "unclear", "agree")}
    differ = served["cache"] + served["etcd"] - served["agree"]
    return Observed(slow=total.count, differ=differ, cause="", total=total.total / 1000, rest=rest, **parts)


def _served(sources: dict[str, int], predicted: GroupPrediction, behaviour: Behaviour) -> dict[str, int]:
    """Return the sources of slow requests, and how many are the predicted one."""
    if predicted.elsewhere:
        return {}
    route, short = predicted.route(), sources["revision"]
    cache, etcd, unclear = sources["cache"], sources["etcd"] + sources["fallback"], 0
    if route == "cache" and predicted.plans[0].probe:
        cache += short
    elif route == "etcd" and behaviour.minor < 30:  # does not measure the decoding of objects from etcd
        etcd += short
    else:
        unclear = short
    agree = {"cache": cache, "etcd": etcd, EITHER: cache + etcd}.get(route, 0)
    return {
        "cache": cache, "etcd": etcd, "fallback": sources["fallback"], "unclear": unclear, "agree": agree,
    }  # fmt: skip


def total_traced(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> TracedReport | None:
    """Return what traces describe the requests of these groups; None without any."""
    of, agree, differ = TracedRequests(), 0, 0
    for group in groups:
        if group.traced is None:
            continue
        of.merge(group.traced)
        if not (predicted := predictions.of(group)).elsewhere:
            told = {route: group.traced.of_route(route) for route in ("cache", "etcd")}
            same = sum(count for route, count in told.items() if route in predicted.routes())
            agree, differ = agree + same, differ + sum(told.values()) - same
    if not of.count:
        return None
    cache, etcd, none, untold = map(of.of_route, ("cache", "etcd", "none", ""))
    scanned, returned, body, probes = map(of.total, ("scanned", "returned", "body", "probes"))
    stages = {stage: micros / 1000 for stage, micros in zip(STAGES, of.stages, strict=True) if micros}
    return TracedReport(
        of.count, cache, etcd, none, untold, of.fallback, agree, differ, scanned, returned, body, probes or 0,
        stages,
    )  # fmt: skip


def _cause(group: AuditGroup, served: Observed, predictions: VersionPredictions) -> str:
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
            "apiserver's measurement leaves streams out"
        )
    if verb == "list" and resource_version == "unset":
        return (
            "the apiserver is newer: from 1.31 on the cache serves consistent LISTs; compare with "
            "--kube-version"
        )
    return f"the apiserver's version or feature gates are not those of {behaviour.version}: --kube-version"
