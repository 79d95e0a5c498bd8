"""Metrics of the process, named as in Prometheus' client libraries, which kube-apiserver uses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial

from ktui.apiserver.call import RequestLog
from ktui.apiserver.http.connections import Connections
from ktui.apiserver.metrics.metric_types import CallbackMetric, Labels
from ktui.telemetry.memory import resident_bytes


def process_metrics(connections: Connections) -> list[CallbackMetric]:
    return [
        CallbackMetric("ktui_connections", "Open connections of clients.", lambda: [((), connections.open)]),
        CallbackMetric(
            "ktui_connections_limit",
            "Connections of clients that may be open at once.",
            lambda: [((), connections.most)],
        ),
        CallbackMetric(
            "ktui_connections_refused_total",
            "Connections refused because as many as allowed were open.",
            lambda: [((), connections.refused)],
            "counter",
        ),
        CallbackMetric(
            "ktui_connections_silent_total",
            "Connections closed because they sent no request.",
            lambda: [((), connections.silent)],
            "counter",
        ),
        CallbackMetric("process_resident_memory_bytes", "Resident memory size in bytes.", _resident),
        CallbackMetric(
            "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", _cpu, "counter"
        ),
    ]


def request_log_metrics(logs: Sequence[RequestLog]) -> list[CallbackMetric]:
    """Lines of the request logs that are lost; upstream counts those of its audit log."""

    def lost(kind: str, label: Labels) -> Iterator[tuple[Labels, float]]:
        return ((label, float(log.lost)) for log in logs if log.kind == kind)

    return [
        CallbackMetric(name, help_text, partial(lost, kind, label), "counter")
        for name, help_text, kind, label in (
            (
                "apiserver_audit_error_total",
                "Audit Events that could not be written.",
                "audit",
                (("plugin", "log"),),
            ),
            ("ktui_http_log_lines_lost_total", "HTTP log lines that could not be written.", "http", ()),
        )
    ]


def _resident() -> Iterator[tuple[Labels, float]]:
    if (found := resident_bytes()) is not None:
        yield (), found


def _cpu() -> Iterator[tuple[Labels, float]]:
    yield (), time.process_time()
