"""Made-up measurements for the texts."""

from __future__ import annotations

from ktui.client.repeated_runs import Runs
from ktui.contract.events import CacheStatus
from ktui.core.lab.measured import Measured
from ktui.core.prediction.assumptions import ServerAssumptions
from ktui.core.prediction.prediction import Prediction, predict_path
from ktui.kube.versions import behaviour_of

PODS = CacheStatus(resource="pods", state="ready", rv=100, objects=1_000, bytes=5_000_000)


def measured(
    path: str, route: str = "etcd", *, ms: float = 80.0, status: int = 200, **counters: int
) -> Measured:
    return Measured(
        path,
        status=status,
        route=route,
        first_route=route,
        reason_id="d.unset",
        reason="no resourceVersion",
        items=10,
        rv="4711",
        message="" if status < 400 else "no [bold]such[/bold] \x1b[31mthing",
        pages=1,
        body_bytes=50_000,
        total_ms=ms,
        average_bytes=5_000.0,
        counters=counters,
    )


def predicted(path: str, version: str = "1.24") -> Prediction:
    return predict_path(path, ServerAssumptions(behaviour_of(version), True, {"pods": PODS}).of)


def runs(result: Measured, version: str = "1.24") -> Runs:
    return Runs(result, predicted(result.path, version), result.first_route, (result.total_ms,))
