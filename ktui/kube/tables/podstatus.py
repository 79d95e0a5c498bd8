"""The READY, STATUS and RESTARTS columns of a pod (kube-apiserver 1.36)."""

from __future__ import annotations

from typing import Any, NamedTuple

from ktui.kube.tables.age import Age, age
from ktui.kube.tables.fields import Obj, condition, deleting, dig, items


class PodStatus(NamedTuple):
    """A pod's ready and total containers, STATUS, and restarts with the last one's time (RFC 3339 or "")."""

    ready: int
    total: int
    reason: str
    restarts: int
    last_restart: str

    def restarts_cell(self) -> Age | str:
        """Return the RESTARTS cell: `3`, or `3 (5m ago)` if the time is known."""
        if self.restarts and self.last_restart:
            return age(self.last_restart, f"{self.restarts} (", " ago)")
        return str(self.restarts)


class _Restarts:
    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, status: Obj) -> None:
        self.count += status.get("restartCount") or 0
        # RFC 3339 times with the same offset sort as text.
        self.last = max(self.last, dig(status, "lastState.terminated.finishedAt", ""))


def pod_status(pod: Obj) -> PodStatus:
    """Return a pod's status as `kubectl get pods` shows it."""
    sidecars = {
        c.get("name") for c in items(pod, "spec.initContainers") if c.get("restartPolicy") == "Always"
    }
    init = _initialization(pod, sidecars)
    reason, ready, restarts = init.reason or _phase(pod), init.ready, init.all_restarts
    if not init.reason or condition(pod, "Initialized").get("status") == "True":
        restarts = init.sidecar_restarts
        running = 0
        errors: list[str] = []
        for status in reversed(items(pod, "status.containerStatuses")):
            restarts.add(status)
            state = _main_state(status)
            if state == "ready":
                running += 1
            elif state:
                reason = state
                if dig(status, "state.terminated.exitCode", 0) and not dig(status, "state.waiting.reason"):
                    errors.append(state)
        ready += running
        if reason == "Completed":
            reason = _completed(pod, running > 0, errors)
    total = len(items(pod, "spec.containers")) + len(sidecars)
    return PodStatus(ready, total, _terminating(pod) or reason, restarts.count, restarts.last)


class _Initialization(NamedTuple):
    reason: str  # "" when initialisation is over
    ready: int
    all_restarts: _Restarts
    sidecar_restarts: _Restarts


def _phase(pod: Obj) -> str:
    gated = condition(pod, "PodScheduled").get("reason") == "SchedulingGated"
    reason = dig(pod, "status.reason", "") or dig(pod, "status.phase", "")
    return "SchedulingGated" if gated else str(reason)


def _initialization(pod: Obj, sidecars: set[Any]) -> _Initialization:
    every, of_sidecars, ready = _Restarts(), _Restarts(), 0
    total = len(items(pod, "spec.initContainers"))
    for i, status in enumerate(items(pod, "status.initContainerStatuses")):
        sidecar = status.get("name") in sidecars
        every.add(status)
        if sidecar:
            of_sidecars.add(status)
        terminated = dig(status, "state.terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if sidecar and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        waiting = dig(status, "state.waiting.reason", "")
        if terminated is not None:
            reason = f"Init:{_terminated(terminated)}"
        elif waiting and waiting != "PodInitializing":
            reason = f"Init:{waiting}"
        else:
            reason = f"Init:{i}/{total}"
        return _Initialization(reason, ready, every, of_sidecars)
    return _Initialization("", ready, every, of_sidecars)


def _terminated(state: Obj) -> str:
    if state.get("reason"):
        return str(state["reason"])
    return f"Signal:{state['signal']}" if state.get("signal") else f"ExitCode:{state.get('exitCode', 0)}"


def _main_state(status: Obj) -> str:
    """The value for the STATUS column, "ready", or "" if this container does not decide it."""
    if waiting := dig(status, "state.waiting.reason", ""):
        return str(waiting)
    terminated = dig(status, "state.terminated")
    if terminated is not None:
        return _terminated(terminated)
    return "ready" if status.get("ready") and dig(status, "state.running") is not None else ""


def _completed(pod: Obj, running: bool, errors: list[str]) -> str:
    if running and condition(pod, "Ready").get("status") == "True":
        return "Running"
    if errors:
        return errors[-1]
    return "NotReady" if running else "Completed"


def _terminating(pod: Obj) -> str:
    if not deleting(pod):
        return ""
    if dig(pod, "status.reason") == "NodeLost":
        return "Unknown"
    return "" if dig(pod, "status.phase") in ("Succeeded", "Failed") else "Terminating"
