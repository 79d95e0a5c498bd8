"""Metrics of the process, named as in Prometheus' client libraries, which kube-apiserver uses."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ktui.apiserver.metrics.exposition import CallbackMetric, Labels
from ktui.telemetry.memory import resident_bytes


def process_metrics() -> list[CallbackMetric]:
    return [
        CallbackMetric("process_resident_memory_bytes", "Resident memory size in bytes.", _resident),
        CallbackMetric(
            "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", _cpu, "counter"
        ),
    ]


def _resident() -> Iterator[tuple[Labels, float]]:
    if (found := resident_bytes()) is not None:
        yield (), found


def _cpu() -> Iterator[tuple[Labels, float]]:
    yield (), time.process_time()
