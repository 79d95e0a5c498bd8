"""Advice from live figures, most expensive first. Each finding names its metric and what to do next."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ktui.core.format import frequency, integer, long_milliseconds, many
from ktui.core.live.levels import LevelRow, level_rows
from ktui.core.live.processes import WEBHOOK, admission_rows, process_growth, slow_admission
from ktui.core.live.resource_findings import CHECKS, Finding, Severity
from ktui.core.live.routes import all_routes
from ktui.core.live.state import LiveState

__all__ = ["SLOW_ADMISSION_MS", "Finding", "Severity", "findings", "worst"]

SLOW_ADMISSION_MS, LEAST_CALLS = 500.0, 3  # mean of a webhook's or plugin's calls
TLS_ERRORS = 0.2  # failed handshakes per second
NAMED = 3  # resources of a merged finding, besides the first
# One cause outside the resource, as an etcd that stalls, gives these for many resources.
_SHARED_CAUSE = frozenset((
    "consistent-read-fallback", "consistent-read-rejected", "slow-consistent-reads", "cache-refilled",
    "cache-check-error", "cache-cannot-fill", "requests-terminated",
))  # fmt: skip


def findings(live: LiveState, seconds: float | None = None) -> list[Finding]:
    """Return the findings of the last `seconds` (None: of everything kept), most urgent first."""
    found: list[Finding] = live.sums.listed(
        ("findings", seconds), live.touched, lambda: _findings(live, seconds), whole=True
    )
    return found


def _findings(live: LiveState, seconds: float | None) -> list[Finding]:
    minor = max((row.minor for row in live.replicas.values()), default=0)
    found: list[Finding] = []
    if live.covered(seconds):  # one scrape says nothing of rates
        for row in all_routes(live, seconds):
            for check in CHECKS:
                found += check(row, minor)
        for level in level_rows(live, seconds):
            found += _level_findings(level)
        found += _process_findings(live, seconds)
        found = merged(found)
    found += _server_findings(live)
    return sorted(found, key=lambda item: (-item.severity, -item.cost, item.subject))


def merged(found: list[Finding]) -> list[Finding]:
    """Make one finding of those that the same cause gives for several resources."""
    by_id: dict[str, list[Finding]] = {}
    for item in found:
        by_id.setdefault(item.id, []).append(item)
    kept: list[Finding] = []
    if "consistent-read-fallback" in by_id or "consistent-read-rejected" in by_id:
        by_id.pop("slow-consistent-reads", None)  # the waits that ended in time
    for id_, items in by_id.items():
        first = max(items, key=lambda item: (item.severity, item.cost))
        if id_ not in _SHARED_CAUSE or len(items) == 1:
            kept += items
            continue
        others = sorted(item.subject for item in items if item is not first)
        names = ", ".join(others[:NAMED]) + (
            f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        )
        kept.append(
            msgspec.structs.replace(
                first,
                text=f"{first.text}; the same of {names}",
                cost=sum(item.cost for item in items),
            )
        )
    return kept


def worst(found: list[Finding]) -> Severity | None:
    return max((item.severity for item in found), default=None)


def _rate(row: LevelRow, value: float | None) -> float:
    return (value or 0) / row.seconds if row.seconds else 0.0


def _level_findings(row: LevelRow) -> Iterator[Finding]:
    if row.rejected:
        counted = row.reasons.items()
        reasons = ", ".join(f"{name.replace('_', ' ')} {integer(round(count))}" for name, count in counted)
        yield Finding(
            "rejected",
            Severity.CRITICAL,
            row.level,
            f"{many(round(row.rejected), 'request')} of this level rejected with 429"
            + (f" ({reasons})" if reasons else "")
            + (
                f"; some were queued in each of {many(row.queue_samples, 'sample')}"
                if row.queue_never_empty
                else ""
            ),
            "apiserver_flowcontrol_rejected_requests_total",
            "the Flow control screen shows who holds the seats: make those requests cheaper, "
            "or give the level more shares",
            _rate(row, row.rejected),
        )
    elif row.queue_never_empty:
        wait = f"; half of them waited over {long_milliseconds(row.wait_p50)}" if row.wait_p50 else ""
        yield Finding(
            "queue-never-empty",
            Severity.WARNING,
            row.level,
            f"requests were queued in each of {many(row.queue_samples, 'sample')}{wait}",
            "apiserver_flowcontrol_current_inqueue_requests",
            "the level is short of seats: the Flow control screen shows who holds them",
            _rate(row, row.dispatched),
        )


def _process_findings(live: LiveState, seconds: float | None) -> Iterator[Finding]:
    """Yield what replicas report besides resources and levels: slow admission, failing TLS handshakes."""
    for call in slow_admission(admission_rows(live, seconds), SLOW_ADMISSION_MS, LEAST_CALLS):
        webhook = call.kind == WEBHOOK
        yield Finding(
            "slow-webhook" if webhook else "slow-admission",
            Severity.WARNING,
            call.name,
            f"this admission {call.kind} took {long_milliseconds(call.ms)} on average in "
            f"{many(round(call.calls), 'call')}",
            f"apiserver_admission_{'webhook' if webhook else 'controller'}_admission_duration_seconds",
            "every write that it matches waits for it and holds its seats: look at the webhook's own server, "
            "narrow its rules, or give it a short timeoutSeconds"
            if webhook
            else "every write that it matches waits for it and holds its seats",
            call.calls * call.ms / 1000,
        )
    errors = [process_growth(row, seconds) for row in live.replicas.values()]
    failed = sum(growth.tls_errors or 0.0 for growth in errors)
    span = max((growth.seconds for growth in errors), default=0.0)
    if span and failed / span >= TLS_ERRORS:
        yield Finding(
            "tls-handshake-errors",
            Severity.NOTICE,
            "kube-apiserver",
            f"{many(round(failed), 'TLS handshake')} failed ({frequency(failed / span)})",
            "apiserver_tls_handshake_errors_total",
            "a client that does not trust the certificate, or a load balancer that probes without TLS",
            failed / span,
        )


def _server_findings(live: LiveState) -> Iterator[Finding]:
    server = live.server
    if server is None:
        return
    for denied in server.denied:
        if denied.path == "/metrics":
            yield Finding(
                "metrics-denied",
                Severity.CRITICAL,
                "kube-apiserver",
                f"/metrics cannot be read ({denied.reason}): there are no figures",
                "/metrics",
                "`ktui rbac` prints the ClusterRole that grants it",
            )
    down = [row for row in live.replicas.values() if row.down is not None]
    for row in down:
        yield Finding(
            "replica-down",
            Severity.WARNING,
            "kube-apiserver",
            f"replica {row.name} does not answer: {row.down.reason if row.down else ''}",
            "/debug/api_priority_and_fairness/dump_requests, /readyz",
            "a restart, or an outage of it: its figures are those of its last scrape",
        )
    reached, expected = len(live.present), max(0, (server.expected or 0) - len(down))
    if expected > reached > 0:
        yield Finding(
            "replicas-not-reached",
            Severity.NOTICE,
            "kube-apiserver",
            f"{reached} of {many(expected, 'replica')} reached: all figures are of these",
            "process_start_time_seconds; Leases in kube-system",
            "the load balancer gave no connection to the others: --prometheus reads all of them",
        )
    for check in server.not_ready:
        yield Finding(
            "not-ready",
            Severity.CRITICAL,
            "kube-apiserver",
            f"the readiness check {check} fails",
            "/readyz?verbose",
            "the replica takes no traffic from a load balancer until it passes",
        )
    hidden = max((row.scrape.hidden_metrics or 0 for row in live.replicas.values()), default=0)
    if hidden:
        yield Finding(
            "hidden-metrics",
            Severity.NOTICE,
            "kube-apiserver",
            f"{many(hidden, 'metric')} hidden or disabled by the server",
            "hidden_metrics_total, disabled_metrics_total",
            "figures that show ? may be among them: --show-hidden-metrics-for-version on the server",
        )
