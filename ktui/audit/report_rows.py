"""The rows of a report: a group of requests, or slow ranges."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.group import AuditGroup, RangeKey, SlowGroup
from ktui.audit.mismatches import observed_report, observed_route, traced_report
from ktui.audit.predictions import GroupPrediction, VersionPredictions
from ktui.audit.report import (
    UNKNOWN,
    CheaperVariant,
    Estimated,
    GroupReport,
    Latency,
    Seats,
    SlowReport,
    TimeSpan,
)
from ktui.core.ranking.sketches import LatencyHistogram
from ktui.kube.access_pattern import AccessPattern
from ktui.kube.advice import advise
from ktui.kube.explain import cautions
from ktui.kube.routing import sentences

FILL_PAGE = 10_000
"""Keys in a page with which kube-apiserver fills a watch cache (and checks it, 1.34+)."""
_MOST = 3


def causes(key: RangeKey, groups: Sequence[AuditGroup], predictions: VersionPredictions) -> list[AuditGroup]:
    """Find the groups of requests that probably caused slow range reads of etcd, most frequent first.

    These read such a range from etcd according to the rules.
    """
    if key.what == "write":
        return []
    found = [group for group in groups if _plausible(key, group, predictions)]
    return sorted(found, key=lambda group: group.count, reverse=True)[:_MOST]


def fills_cache(key: RangeKey) -> bool:
    """True if the apiserver itself may be the cause, which fills caches in pages of FILL_PAGE."""
    return key.what == "range" and key.scope == "all" and key.limit == FILL_PAGE


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
    if bool(shape.continued) != key.later and not _selective(group):
        return False
    # A filtering LIST is read in pages of the limit, doubled each time (1.24+).
    return shape.limit == key.limit or (_selective(group) and 0 < shape.limit < key.limit)


def _selective(group: AuditGroup) -> bool:
    return bool(group.key.shape.selectors)


ELSEWHERE = "an aggregated API: another server answers, with storage and rules of its own"
NO_QUERY = "the log leaves out query strings: the route depends on resourceVersion, limit and continue"


def group_report(
    rank: int, group: AuditGroup, predictions: VersionPredictions, span: TimeSpan | None
) -> GroupReport:
    shape, predicted = group.key.shape, predictions.of(group)
    (request, state), plan, behaviour = (
        predictions.request(group),
        predicted.plans[0],
        predictions.versions[0],
    )
    known = group.key.query and not predicted.elsewhere
    why = ELSEWHERE if predicted.elsewhere else NO_QUERY
    return GroupReport(
        rank=rank,
        client=group.key.client.agent,
        user=group.key.client.user,
        verb=shape.verb,
        resource=shape.resource,
        subresource=shape.subresource,
        scope=shape.scope,
        selectors=shape.selectors,
        resource_version=shape.resource_version if group.key.query else UNKNOWN,
        match=shape.match,
        limit=shape.limit,
        continued=shape.continued,
        initial_events=shape.initial_events,
        count=group.count,
        per_second=group.count / span.seconds if span and span.seconds else None,
        latency=_latency(group.took),
        init_latency=_latency(group.init),
        errors={str(code): count for code, count in sorted(group.codes.items())},
        seats=Seats(group.seats_total / group.seats_count, group.seats_max) if group.seats_count else None,
        route=observed_route(group) or predicted.route(),
        reason_id=plan.reason_id if known else UNKNOWN,
        reason=sentences.reason(plan) if known else why,
        etcd_ops=plan.etcd_ops if known else (),
        routes={b.version: predicted.route(i) for i, b in enumerate(predictions.versions)},
        earlier_routes={b.version: predicted.route(i) for i, b in predictions.earlier},
        estimated=_estimated(group, predicted),
        warnings=cautions(request, plan, behaviour) if known else (),
        cheaper=tuple(
            CheaperVariant(advice.id, advice.why, advice.path, advice.plan.source.route)
            for advice in advise(request, state, behaviour, AccessPattern(account=group.key.client.account))
            if known
        ),
        example=group.example,
        possible_routes=predicted.routes(),
        observed=observed_report(group, predictions),
        traced=traced_report(group, predictions),
    )


def _estimated(group: AuditGroup, predicted: GroupPrediction) -> Estimated | None:
    cost = predicted.costs[0]
    if cost is None:
        return None
    return Estimated(
        etcd_bytes=group.count * cost.etcd,
        touched_bytes=group.count * cost.touched,
        processed_bytes=group.count * cost.processed,
        etcd_bytes_each=cost.etcd,
        touched_bytes_each=cost.touched,
    )


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
    took = _latency(slow.took)
    assert took is not None  # a group is created with its first request
    return SlowReport(
        source=key.source,
        what=key.what,
        resource=key.resource,
        scope=key.scope,
        limit=key.limit,
        later_page=key.later,
        at_revision=key.pinned,
        count=slow.count,
        failed=slow.failed,
        took=took,
        max_keys=slow.keys if slow.keys >= 0 else None,
        max_bytes=slow.size if slow.size >= 0 else None,
        probably=tuple(_probably(slow, likeliest)),
        ranks=tuple(groups.index(group) + 1 for group in likeliest),
        example=slow.example,
    )


def _probably(slow: SlowGroup, likeliest: Sequence[AuditGroup]) -> list[str]:
    found = [
        f"{group.key.client.agent} {group.key.shape.verb.upper()} {group.example}" for group in likeliest
    ]
    if fills_cache(slow.key):
        found.insert(0, "an apiserver that fills (or, from 1.34 on, checks) its watch cache")
    return found
