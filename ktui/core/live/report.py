"""The JSON report of `ktui observe`. A figure that the server does not report is null, not 0."""

from __future__ import annotations

from typing import Any

from ktui.contract.events.live import RunningRequest
from ktui.core.live.checks import EVERY, GATE, Checks, checks_of
from ktui.core.live.findings import findings, verdict
from ktui.core.live.levels import LevelRow, level_rows
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import admission_rows, process_growth
from ktui.core.live.replica import ReplicaRow
from ktui.core.live.resource_routes import ResourceRoutes, Served
from ktui.core.live.window import total

Document = dict[str, Any]
_MEANS = ("seats", "executing", "queued")


def report_document(live: LiveState, seconds: float | None = None) -> Document:
    """Return the report over the last `seconds` (None: everything kept)."""
    server, status = live.server, live.status
    routes = all_routes(live, seconds)
    return {
        "verdict": verdict(routes),
        "server": {
            "context": server.context if server else "",
            "url": server.url if server else "",
            "version": server.version if server else "",
            "not_ready": list(server.not_ready) if server else [],
        },
        "origin": server.origin if server else "metrics",
        "seconds": _number(max((row.seconds for row in routes), default=0.0)),
        "gates": dict(sorted(server.gates.items())) if server else {},
        "replicas": _replicas(live),
        "resources": {row.resource: resource_document(row) for row in routes},
        "consistency_checks": _checks(checks_of(routes)),
        "levels": {row.level: level_document(row) for row in level_rows(live, seconds)},
        "admission": [_plain_numbers(row) for row in admission_rows(live, seconds)],
        "executing": [_running(*item) for item in live.running() if not item[1].queued],
        "queued": [_running(*item) for item in live.running() if item[1].queued],
        "users": [
            {**_plain(row), **{key: _number(getattr(row, key)) for key in _MEANS}} for row in live.users()
        ],
        "findings": [
            {**_plain(item), "severity": item.severity.name.lower(), "cost": _number(item.cost)}
            for item in findings(live, seconds)
        ],
        "denied": [_plain(item) for item in (server.denied if server else [])],
        "ktui_load": {
            "requests": status.requests if status else 0,
            "received_bytes": status.received_bytes if status else 0,
            "ms": _number(status.busy_ms if status else 0.0),
        },
    }  # fmt: skip


def resource_document(row: ResourceRoutes) -> Document:
    """Return a resource's totals over the window; `rates` are per second."""
    return {
        "seconds": _number(row.seconds),
        "cache": {**_served(row.cache), "indexed": _number(row.indexed)},
        "etcd": {**_served(row.etcd), "evaluated": _number(row.evaluated), "probes": _number(row.probes)},
        "consistent_reads": {
            "success": _number(row.success),
            "failure": _number(row.failure),
            "fallback": _number(row.fallback),
            "rejected": _number(row.rejected_reads),
            "wait_ms": _number(row.wait_ms),
        },
        "lists": _number(row.answered),
        "errors": _number(row.errors),
        "rejected": _number(row.rejected),
        "verbs": {
            "get": _number(row.gets),
            "list": _number(row.lists),
            "watch": _number(row.watch_requests),
            "create": _number(row.creates),
            "update": _number(row.updates),
            "patch": _number(row.patches),
            "delete": _number(row.deletes),
        },
        "terminated_requests": _number(total((row.terminated_requests, row.aborted))),
        "initial_events": _number(row.init_events),
        "watchlist_ms": _number(row.watch_list_ms),
        "watches": _number(row.watches),
        "watch_events": _number(row.watch_events),
        "watch_bytes": _number(row.watch_bytes),
        "terminated_watches": _number(row.terminated),
        "bytes": _number(row.bytes),
        "mean_bytes": _number(row.mean_bytes),
        "ms": _number(row.ms),
        "scopes": {
            "cluster": {"lists": _number(row.cluster_lists), "ms": _number(row.cluster_ms)},
            "namespace": {"lists": _number(row.namespace_lists), "ms": _number(row.namespace_ms)},
        },
        "amplification": _number(row.amplification),
        "objects": _number(row.objects),
        "rates": {
            "lists": _number(row.per_second(row.answered)),
            "cache_lists": _number(row.per_second(row.cache.lists)),
            "etcd_lists": _number(row.per_second(row.etcd.lists)),
            "fetched": _number(row.per_second(row.fetched)),
            "bytes": _number(row.per_second(row.bytes)),
        },
    }


def _checks(checks: Checks | None) -> Document | None:
    if checks is None:
        return None
    return {
        "count": _number(checks.count),
        "failed": _number(checks.failed),
        "errors": _number(checks.errored),
        "resources": checks.resources,
        "etcd_lists": _number(checks.lists),
        "objects": _number(checks.objects),
        "bytes": _number(checks.bytes),
        "share_of_etcd_reads": _number(checks.share),
        "saving": {
            "gate": GATE,
            "objects_a_round": _number(checks.per_replica),
            "bytes_a_round": _number(checks.per_replica_bytes),
            "seconds_a_round": EVERY,
        },
    }


def level_document(row: LevelRow) -> Document:
    return {
        "seats": {
            "nominal": _number(row.nominal),
            "current": _number(row.current),
            "executing": _number(row.executing_seats),
        },
        "executing": _number(row.executing),
        "queued": _number(row.queued),
        "dispatched": _number(row.dispatched),
        "rejected": _number(row.rejected),
        "rejected_by_reason": {name: _number(value) for name, value in row.reasons.items()},
        "wait_p50_ms": _number(row.wait_p50),
        "wait_p99_ms": _number(row.wait_p99),
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
        "started": _number(scrape.started),
        "last_scrape": _number(scrape.at),
        "page_bytes": scrape.page_bytes,
        "page_lines": scrape.page_lines,
        "scrape_ms": _number(scrape.ms),
        "memory_bytes": scrape.memory_bytes,
        "memory_grown_bytes": growth.grown,
        "cores": _number(growth.cores),
        "tls_handshake_errors": _number(growth.tls_errors),
        "answers": row.down is None,
        "etcd_size_bytes": scrape.storage_bytes,
        "in_flight": {"reading": scrape.reading, "writing": scrape.writing},
    }


def _served(served: Served) -> Document:
    return {
        "lists": _number(served.lists),
        "fetched": _number(served.fetched),
        "returned": _number(served.returned),
    }


def _running(replica: str, request: RunningRequest) -> Document:
    return {"replica": replica, **_plain(request)}


def _plain(struct: Any) -> Document:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def _plain_numbers(struct: Any) -> Document:
    return {
        name: _number(value) if isinstance(value, float) else value for name, value in _plain(struct).items()
    }


def _number(value: float | None) -> float | None:
    """Round to three decimals; whole numbers become int."""
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 3)
