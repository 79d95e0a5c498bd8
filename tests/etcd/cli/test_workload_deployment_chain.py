"""deployment-chain at a real server: every request that a command causes, with its transactions."""

from __future__ import annotations

from typing import Any

from ktui.client.connection import ServerConnection
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import summary_when, table_of

SETTINGS = ("replicas=1", "nodes=2", "again=0", "surge=1", "unavailable=0")


def labels(steps: list[dict[str, Any]]) -> list[str]:
    return [step["what"] for step in steps]


def test_what_a_deployment_causes(server: ServerConnection, in_loop: InLoop) -> None:
    summary = in_loop(summary_when(server, "deployment-chain", lambda run: False, *SETTINGS))
    assert summary["ended"] == "complete"
    tables = summary["variants"][0]["tables"]
    traces = {
        table["title"].removeprefix("causal trace of kubectl "): table["data"]
        for table in tables
        if "data" in table
    }
    assert set(traces) == {"apply", "scale", "set image", "conflict", "delete"}

    applied = [step for step in traces["apply"] if step["status"] != 409]
    chain = [what for what in labels(applied) if not what.endswith("status") and "Event" not in what]
    assert chain == [
        "kubectl: apply",
        "deployment-controller: create ReplicaSet",
        "replicaset-controller: create Pod",
        "default-scheduler: bind Pod",
        "kubelet: report Pod Running",
    ]
    by_revision = {step["revision"]: step for step in applied}
    for step in applied[1:]:
        assert step["caused_by"] in by_revision, "each reacts to a change of the trace"
        assert step["caused_by"] < step["revision"]
    created = next(step for step in applied if step["what"].endswith("create Pod"))
    txn = next(call for call in created["etcd"] if call["op"] == "txn")
    assert "mod_revision:0" in txn["request"] and txn["revision"] == created["revision"]
    scheduled = next(step for step in applied if step["what"].endswith("Event Scheduled"))
    assert " lease:" in scheduled["etcd"][-1]["request"]

    # A rolling update: two ReplicaSets, and the old one loses its pods to the new one.
    # A step that was refused is tried again, as by upstream's controllers: those that succeeded count.
    updated = labels([step for step in traces["set image"] if step["status"] < 300])
    assert "deployment-controller: create ReplicaSet" in updated
    assert updated.count("kubelet: remove Pod") == 2 == updated.count("kubelet: report Pod Running")

    # Another client writes between the controller's read and its PUT: 409, and then again.
    conflict = traces["conflict"]
    status = [step for step in conflict if step["what"] == "deployment-controller: update Deployment status"]
    other = next(step for step in conflict if step["what"] == "another client: annotate")
    assert 409 in [step["status"] for step in status]
    assert [step for step in status if step["status"] == 200 and step["revision"] > other["revision"]]

    # Owner references: the ReplicaSets, then their pods.
    deleted = [what for what in labels(traces["delete"]) if "delete" in what]
    assert deleted.count("garbage-collector: delete ReplicaSet") == 2
    assert deleted[-1] == "garbage-collector: delete Pod"
    # Each client has its own user, and so its priority level.
    levels = summary["variants"][0]["total"]["levels"]
    assert {"system", "workload-high", "workload-low", "global-default"} <= set(levels)
    sums = {row["command"]: row for row in table_of(summary, "what one command causes")}
    assert int(sums["kubectl conflict"]["409"]) >= 1 and sums["kubectl apply"]["leases"] == "1"
