"""What many agents would cost: arithmetic that says that it is one."""

import pytest

from ktui.client.repeated_runs import Runs
from ktui.core.lab.measured import Measured
from ktui.core.prediction.prediction import Prediction
from ktui.workloads.benchmark import Extrapolation, Row, total_of
from ktui.workloads.plans import PlannedList

NODE_PODS = "/api/v1/pods?fieldSelector=spec.nodeName={node}"


def row(
    path: str, *, items: int, fetched: int, received: int, etcd_bytes: int = 0, route: str = "cache"
) -> Row:
    measured = Measured(
        path,
        status=200,
        route=route,
        items=items,
        pages=1,
        body_bytes=received,
        average_bytes=10.0,
        counters={"fetched": fetched, "etcd_bytes": etcd_bytes},
    )
    return Row(PlannedList(path), Runs(measured, Prediction(), route, (1.0,)))


MANY = Extrapolation(agents=5_000, nodes=500, growth=10.0)


@pytest.mark.parametrize(
    ("measured", "processed", "received"),
    [
        # A whole collection grows with the cluster.
        (row("/api/v1/pods", items=100, fetched=100, received=2_000), 1_000 * 10 * 5_000, 2_000 * 10 * 5_000),
        # One node's share does not; an index reads just that.
        (row(NODE_PODS, items=4, fetched=4, received=80), 40 * 5_000, 80 * 5_000),
        # Without an index all of it is read for one node's share.
        (
            row(NODE_PODS, items=4, fetched=100, received=80, etcd_bytes=1_000, route="etcd"),
            1_000 * 10 * 5_000,
            80 * 5_000,
        ),
    ],
)
def test_growth(measured: Row, processed: int, received: int) -> None:
    total = measured.times(MANY)
    assert (total.requests, total.processed, total.received) == (5_000, processed, received)


def test_totals_skip_what_is_not_known() -> None:
    known = row("/api/v1/pods", items=1, fetched=1, received=20)
    unknown = row("/api/v1/nodes", items=1, fetched=1, received=20)
    unknown.measured.counters.clear()
    total = total_of((known, unknown), Extrapolation(1, 1, 1.0))
    assert (total.requests, total.processed, total.received) == (2, 10, 40)
    assert total_of((unknown,), MANY).processed is None


def test_extrapolations_are_marked() -> None:
    document = row("/api/v1/pods", items=1, fetched=1, received=20).document(MANY)
    assert document["extrapolated"]["measured"] is False
    assert row("/api/v1/pods", items=1, fetched=1, received=20).document(None)["extrapolated"] is None
