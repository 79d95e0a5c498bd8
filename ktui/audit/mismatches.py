"""Compare observed routes with predicted ones, and explain differences."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.audit.group import AuditGroup
from ktui.audit.observed import PARTS, SlowRequests
from ktui.audit.predictions import EITHER, VersionPredictions
from ktui.audit.report import Observed
from ktui.kube.versions import Behaviour

_LATE = 3_000_000  # microseconds that a consistent read waits for its cache


def observed_report(group: AuditGroup, predictions: VersionPredictions) -> Observed | None:
    """Return what was observed of a group's slow requests; None if the log has none."""
    if group.slow is None or not group.slow.count:
        return None
    agree, differ = _compared(group, predictions)
    return _observed(group.slow, agree, differ, _cause(group, predictions) if differ else "")


def total_observed(groups: Sequence[AuditGroup], predictions: VersionPredictions) -> Observed | None:
    """Return what was observed of the slow requests of all groups; None without any."""
    total, agree, differ = SlowRequests(), 0, 0
    for group in groups:
        if group.slow is not None:
            total.merge(group.slow)
            of_group = _compared(group, predictions)
            agree, differ = agree + of_group[0], differ + of_group[1]
    return _observed(total, agree, differ, "") if total.count else None


def _compared(group: AuditGroup, predictions: VersionPredictions) -> tuple[int, int]:
    """Return how many slow requests were served from the predicted route, and from another one."""
    route, sources = predictions.of(group).route(), group.slow.sources if group.slow else {}
    if route == EITHER:
        return 0, 0
    clear = {source: sources.get(source, 0) for source in ("cache", "etcd")}
    agree = clear.pop(route, 0)
    return agree, sum(clear.values())


def _observed(slow: SlowRequests, agree: int, differ: int, cause: str) -> Observed:
    parts = {part: getattr(slow, part) / 1000 for part in PARTS}
    return Observed(
        slow=slow.count,
        **slow.sources,
        agree=agree,
        differ=differ,
        cause=cause,
        total=slow.total / 1000,
        queue=parts["queue"],
        etcd_time=parts["etcd"],
        encode=parts["encode"],
        write=parts["write"],
        other=parts["other"],
        rest=max(0.0, slow.total / 1000 - sum(parts.values())),
    )


def _cause(group: AuditGroup, predictions: VersionPredictions) -> str:
    """Return the most likely reason why these requests were not served from the predicted route."""
    predicted, behaviour, shape = predictions.of(group), predictions.versions[0], group.key.shape
    plan = predicted.plans[0]
    if predicted.route() == "etcd":
        return _cache_instead(shape.verb, shape.resource_version, behaviour)
    if plan.error is not None:
        return "the rules refuse this request: --kube-version or --feature-gates differ from the apiserver's"
    if plan.fallback.reads_etcd and group.took.max >= _LATE:
        return (
            "fallback: the watch cache was more than 3 s behind (or had no such snapshot), so etcd was read"
        )
    if plan.probe:
        return (
            "reading etcd's current revision (one key) took long: etcd was overloaded; or the apiserver is "
            "older "
            f"than {behaviour.version}: compare with --kube-version"
        )
    return (
        f"the watch cache was not ready, or the apiserver's version is not {behaviour.version}: "
        f"--kube-version"
    )


def _cache_instead(verb: str, resource_version: str, behaviour: Behaviour) -> str:
    if verb == "list" and behaviour.etcd_range_stream:
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
