"""The JSON report of `ktui observe`. A figure that the server does not report is null, not 0."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from ktui.core.live.findings import findings, verdict
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import LevelRow, admission_rows, level_rows, process_growth
from ktui.core.live.resource_routes import EVERY, GATE, ChecksRow, ResourceRoutes, checks_of
from ktui.core.live.window import ReplicaRow, total

Document = dict[str, Any]


def report_document(live: LiveState) -> Document:
    """Return the report over all scrapes."""
    server, status = live.server, live.status
    running = [({"replica": replica, **asdict(item)}, item.queued) for replica, item in live.running()]
    routes = all_routes(live)
    report: Document = _rounded({
        "verdict": verdict(routes),
        "server": {
            "context": server.context if server else "",
            "url": server.url if server else "",
            "version": server.version if server else "",
            "not_ready": list(server.not_ready) if server else [],
        },
        "origin": server.origin if server else "metrics",
        "seconds": max((row.seconds for row in routes), default=0.0),
        "gates": dict(sorted(server.gates.items())) if server else {},
        "replicas": _replicas(live),
        "resources": {row.resource: _resource(row) for row in routes},
        "consistency_checks": _checks(checks_of(routes)),
        "levels": {row.level: _level(row) for row in level_rows(live)},
        "admission": [asdict(row) for row in admission_rows(live)],
        "executing": [item for item, queued in running if not queued],
        "queued": [item for item, queued in running if queued],
        "users": [asdict(row) for row in live.users()],
        "findings": [
            {**asdict(item), "severity": item.severity.name.lower()}
            for item in findings(live)
        ],
        "denied": [asdict(item) for item in (server.denied if server else [])],
        "ktui_load": {
            "requests": status.requests if status else 0,
            "received_bytes": status.received_bytes if status else 0,
            "ms": status.busy_ms if status else 0.0,
        },
    })  # fmt: skip
    return report


def _resource(row: ResourceRoutes) -> Document:
    """Return a resource's totals over the window; `rates` are per second."""
    return {
        "seconds": row.seconds,
        "cache": {**asdict(row.cache), "indexed": row.indexed_lists},
        "etcd": {**asdict(row.etcd), "evaluated": row.client_etcd_evaluated, "probes": row.probes},
        "consistent_reads": {
            "success": row.success, "failure": row.consistent_failure, "fallback": row.consistent_fallback,
            "rejected": row.consistent_rejected, "wait_ms": row.wait_ms,
        },
        "lists": row.answered,
        "collection_deletes": row.collection_deletes,
        "errors": row.list_errors,
        "rejected": row.list_rejected,
        "verbs": {
            "get": row.gets, "list": row.lists, "watch": row.watch_requests, "create": row.creates,
            "update": row.updates, "patch": row.patches, "delete": row.deletes,
        },
        "terminated_requests": total((row.terminated_requests, row.aborted)),
        "initial_events": row.init_events,
        "watchlist_ms": row.watch_list_ms,
        "watches": row.watches,
        "watch_events": row.watch_events,
        "watch_bytes": row.watch_bytes,
        "terminated_watches": row.terminated_watchers,
        "bytes": row.bytes,
        "mean_bytes": row.mean_bytes,
        "ms": row.list_ms,
        "scopes": {
            "cluster": {"lists": row.cluster_lists, "ms": row.cluster_ms},
            "namespace": {"lists": row.namespace_timed, "ms": row.namespace_ms},
        },
        "amplification": row.amplification,
        "objects": row.objects,
        "rates": {
            "lists": row.per_second(row.answered),
            "cache_lists": row.per_second(row.cache.lists),
            "etcd_lists": row.per_second(row.etcd.lists),
            "fetched": row.per_second(row.fetched),
            "bytes": row.per_second(row.bytes),
        },
    }  # fmt: skip


def _checks(checks: ChecksRow | None) -> Document | None:
    if checks is None:
        return None
    return {
        "count": checks.checks,
        "failed": checks.checks_failed,
        "errors": checks.checks_errored,
        "resources": checks.resources,
        "etcd_lists": checks.etcd.lists,
        "objects": checks.etcd.fetched,
        "bytes": checks.bytes,
        "share_of_etcd_reads": checks.share,
        "saving": {
            "gate": GATE,
            "objects_a_round": checks.objects,
            "bytes_a_round": checks.size_bytes,
            "seconds_a_round": EVERY,
        },
    }


def _level(row: LevelRow) -> Document:
    return {
        "seats": {"nominal": row.nominal, "current": row.current, "executing": row.executing_seats},
        "executing": row.executing,
        "queued": row.queued,
        "dispatched": row.dispatched,
        "rejected": row.rejected,
        "rejected_by_reason": dict(row.reasons),
        "wait_p50_ms": row.wait_p50,
        "wait_p99_ms": row.wait_p99,
    }


def _replicas(live: LiveState) -> Document:
    expected = live.server.expected if live.server else None
    reached = len(live.present)
    return {
        "expected": max(expected, reached) if expected is not None else None,
        "reached": reached,
        "each": [_replica(row) for row in live.replicas.values()],
    }


def _replica(row: ReplicaRow) -> Document:
    scrape, growth = row.scrape, process_growth(row)
    return {
        "replica": scrape.replica,
        "version": scrape.version,
        "started": scrape.started,
        "last_scrape": scrape.at,
        "page_bytes": scrape.page_bytes,
        "page_lines": scrape.page_lines,
        "scrape_ms": scrape.ms,
        "memory_bytes": scrape.memory_bytes,
        "memory_grown_bytes": growth.grown,
        "cores": growth.cores,
        "tls_handshake_errors": growth.tls_errors,
        "answers": row.down is None,
        "etcd_size_bytes": scrape.storage_bytes,
        "in_flight": {"reading": scrape.reading, "writing": scrape.writing},
    }


def _rounded(value: Any) -> Any:
    """Round the numbers of a document to three decimals; whole numbers become int."""
    if isinstance(value, float):
        return int(value) if value == int(value) else round(value, 3)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value
