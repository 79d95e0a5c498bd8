"""The READY, STATUS and RESTARTS columns."""

from typing import Any

import pytest

from ktui.kube.tables.object_fields import Age, unix_time
from ktui.kube.tables.printers.core import pod_status

_READY = {"type": "Ready", "status": "True"}
_RUNNING = {"ready": True, "state": {"running": {}}}


def _pod(*statuses: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": f"c{i}"} for i in range(max(len(statuses), 1))]}
    pod = {"spec": spec, "status": {"phase": "Running", "containerStatuses": list(statuses)}, "metadata": {}}
    pod["status"].update(more.pop("status", {}))
    pod["spec"].update(more.pop("spec", {}))
    pod["metadata"].update(more)
    return pod


def _terminated(code: int = 0, **more: Any) -> dict[str, Any]:
    return {"state": {"terminated": {"exitCode": code, **more}}}


def _waiting(reason: str) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason}}}


@pytest.mark.parametrize(
    ("pod", "ready", "status"),
    [
        (_pod(_RUNNING), "1/1", "Running"),
        (_pod(status={"phase": "Pending"}), "0/1", "Pending"),
        (_pod(status={"phase": "Failed", "reason": "Evicted"}), "0/1", "Evicted"),
        (_pod(_RUNNING, _waiting("CrashLoopBackOff")), "1/2", "CrashLoopBackOff"),
        (_pod(_waiting("A"), _waiting("B")), "0/2", "A"),
        (_pod(_terminated(1, reason="Error")), "0/1", "Error"),
        (_pod(_terminated(137, signal=9)), "0/1", "Signal:9"),
        (_pod(_terminated(3)), "0/1", "ExitCode:3"),
        (_pod(_terminated(0, reason="Completed")), "0/1", "Completed"),
        (_pod(_terminated(0, reason="Completed"), _RUNNING), "1/2", "NotReady"),
        (
            _pod(_terminated(0, reason="Completed"), _RUNNING, status={"conditions": [_READY]}),
            "1/2",
            "Running",
        ),
        (_pod(_terminated(0, reason="Completed"), _terminated(1, reason="Error")), "0/2", "Error"),
        (_pod(_RUNNING, deletionTimestamp="2026-11-20T07:24:05Z"), "1/1", "Terminating"),
        (_pod(deletionTimestamp="x", status={"phase": "Succeeded"}), "0/1", "Succeeded"),
        (_pod(deletionTimestamp="x", status={"reason": "NodeLost"}), "0/1", "Unknown"),
        (
            _pod(
                status={
                    "phase": "Pending",
                    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
                }
            ),
            "0/1",
            "SchedulingGated",
        ),
    ],
)
def test_main_containers(pod: dict[str, Any], ready: str, status: str) -> None:
    found = pod_status(pod)
    assert (f"{found.ready}/{found.total}", found.reason) == (ready, status)


def _init(*statuses: dict[str, Any], sidecars: tuple[str, ...] = ()) -> dict[str, Any]:
    named = [{"name": f"i{n}", **status} for n, status in enumerate(statuses)]
    containers = [
        {"name": s["name"]} | ({"restartPolicy": "Always"} if s["name"] in sidecars else {}) for s in named
    ]
    return _pod(
        _waiting("PodInitializing"),
        spec={"initContainers": containers},
        status={"phase": "Pending", "initContainerStatuses": named},
    )


@pytest.mark.parametrize(
    ("pod", "ready", "status"),
    [
        (_init(_terminated(0), {"state": {"running": {}}}), "0/1", "Init:1/2"),
        (_init(_waiting("PodInitializing")), "0/1", "Init:0/1"),
        (_init(_waiting("ImagePullBackOff")), "0/1", "Init:ImagePullBackOff"),
        (_init(_terminated(1, reason="Error")), "0/1", "Init:Error"),
        (_init(_terminated(2)), "0/1", "Init:ExitCode:2"),
        (_init(_terminated(2, signal=9)), "0/1", "Init:Signal:9"),
        (_init({"started": True, "ready": True}, _waiting("x"), sidecars=("i0",)), "1/2", "Init:x"),
        (_init({"started": True, "ready": False}, sidecars=("i0",)), "0/2", "PodInitializing"),
        (_init(_terminated(0)), "0/1", "PodInitializing"),
    ],
)
def test_init_containers(pod: dict[str, Any], ready: str, status: str) -> None:
    found = pod_status(pod)
    assert (f"{found.ready}/{found.total}", found.reason) == (ready, status)


def _restarted(count: int, finished: str = "") -> dict[str, Any]:
    last = {"lastState": {"terminated": {"finishedAt": finished}}} if finished else {}
    return {"restartCount": count, **last}


def test_restarts_tell_when_the_latest_was() -> None:
    now = unix_time("2026-11-20T08:00:00Z")
    early, late = "2026-11-20T07:00:00Z", "2026-11-20T07:55:00Z"
    pod = _pod(_RUNNING | _restarted(2, late), _RUNNING | _restarted(1, early))
    restarted = pod_status(pod).restarts_cell()
    assert isinstance(restarted, Age) and restarted.text(now) == "3 (5m ago)"
    assert pod_status(_pod(_RUNNING | _restarted(2))).restarts_cell() == "2"
    assert pod_status(_pod(_RUNNING)).restarts_cell() == "0"


def test_restarts_of_init_containers_count_only_while_they_run() -> None:
    initializing = _init(_terminated(0) | _restarted(4), _waiting("x") | _restarted(1))
    assert pod_status(initializing).restarts == 5
    done = _init(_terminated(0) | _restarted(4), {"started": True, **_restarted(2)}, sidecars=("i1",))
    assert pod_status(done).restarts == 2


def test_an_empty_object_is_shown_too() -> None:
    assert pod_status({}) == (0, 0, "", 0, "")
