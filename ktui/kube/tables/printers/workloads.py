"""Printers of workloads, Jobs, autoscalers and disruption budgets."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    UNSET,
    Age,
    Cell,
    Obj,
    age,
    born,
    containers,
    count,
    deleting,
    dig,
    first_few,
    holds,
    human_duration,
    items,
    labels,
    pair,
    row,
    selector,
    selector_text,
    text,
    unix_time,
)


def _status(job: Obj) -> str:
    held = [kind for kind in ("Complete", "Failed") if holds(job, kind)]
    if not held and deleting(job):
        return "Terminating"
    held += [kind for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if holds(job, kind)]
    return held[0] if held else "Running"


def _completions(job: Obj) -> str:
    done = dig(job, "status.succeeded", 0)
    wanted = dig(job, "spec.completions")
    parallelism = dig(job, "spec.parallelism", 0)
    if wanted is not None:
        return f"{done}/{wanted}"
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(job: Obj) -> Age | str:
    start, end = dig(job, "status.startTime"), dig(job, "status.completionTime")
    if not start:
        return ""
    return human_duration(unix_time(end) - unix_time(start)) if end else Age(unix_time(start))


def _ready(obj: Obj) -> str:
    return f"{dig(obj, 'status.readyReplicas', 0)}/{dig(obj, 'spec.replicas', 0)}"


def _controller(obj: Obj) -> str:
    owner = next((o for o in items(obj, "metadata.ownerReferences") if o.get("controller")), None)
    if not owner:
        return NONE
    group, name = str(owner.get("apiVersion", "")).rpartition("/")[0], str(owner.get("name", ""))
    kind = f"{owner.get('kind', '')}.{group}" if group else str(owner.get("kind", ""))
    return f"{kind.lower()}/{name}" if kind else name


def _deployment_selector(deployment: Obj) -> str:
    return selector_text(dig(deployment, "spec.selector"), empty="", invalid="<invalid>")


def _targets(autoscaler: Obj) -> str:
    wanted = _cpu("target", dig(autoscaler, "spec.targetCPUUtilizationPercentage"))
    specs = items(autoscaler, "spec.metrics") or wanted
    if not specs:
        return NONE
    current = _cpu("current", dig(autoscaler, "status.currentCPUUtilizationPercentage"))
    statuses = items(autoscaler, "status.currentMetrics") or current
    texts = [_metric(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    return first_few(texts, 2, ", ")


def _cpu(side: str, percent: int | None) -> list[Any]:
    """Return the metric of v1, which has only that of the CPU; [] if it is not set."""
    metric = {"type": "Resource", "resource": {"name": "cpu", side: {"averageUtilization": percent}}}
    return [] if percent is None else [metric]


def _metric(spec: Obj, status: Obj) -> str:
    kind = str(spec.get("type", ""))
    member = kind[:1].lower() + kind[1:]
    wanted, current = spec.get(member) or {}, status.get(member) or {}
    match kind:
        case "Resource" | "ContainerResource":
            return f"{wanted.get('name', '')}: {_resource_metric(wanted, current)}"
        case "Pods":
            return f"{_value(current, 'current.averageValue')}/{_value(wanted, 'target.averageValue')}"
        case "Object" | "External":
            return _object_metric(wanted, current)
        case _:
            return "<unknown type>"


def _resource_metric(wanted: Obj, current: Obj) -> str:
    if dig(wanted, "target.averageValue") is not None:
        return f"{_value(current, 'current.averageValue')}/{_value(wanted, 'target.averageValue')}"
    now = dig(current, "current.averageUtilization")
    target = dig(wanted, "target.averageUtilization")
    return f"{UNKNOWN if now is None else f'{now}%'}/{'<auto>' if target is None else f'{target}%'}"


def _object_metric(wanted: Obj, current: Obj) -> str:
    if dig(wanted, "target.averageValue") is not None:
        average = _value(current, "current.averageValue")
        return f"{average}/{_value(wanted, 'target.averageValue')} (avg)"
    return f"{_value(current, 'current.value')}/{_value(wanted, 'target.value')}"


def _value(metric: Obj, path: str) -> str:
    return str(dig(metric, path, UNKNOWN))


def _status_count(name: str) -> Cell:
    return f"status.{name}", 0


_CONTAINERS, _SELECTOR = containers("spec.template"), selector("spec.selector")
_REPLICAS: tuple[Cell, ...] = (
    ("spec.replicas", 0), _status_count("replicas"), _status_count("readyReplicas"), born, *_CONTAINERS,
)  # fmt: skip
PRINTERS = {
    "cronjobs.batch": row(
        "spec.schedule", text("spec.timeZone", NONE), text("spec.suspend", UNSET), count("status.active"),
        lambda job: age(last) if (last := dig(job, "status.lastScheduleTime")) else NONE,
        born, *containers("spec.jobTemplate.spec.template"), selector("spec.jobTemplate.spec.selector"),
    ),
    "jobs.batch": row(_status, _completions, _duration, born, *_CONTAINERS, _SELECTOR),
    "replicationcontrollers": row(*_REPLICAS, labels("spec.selector")),
    "replicasets.apps": row(*_REPLICAS, _SELECTOR),
    "deployments.apps": row(
        _ready, _status_count("updatedReplicas"), _status_count("availableReplicas"), born, *_CONTAINERS,
        _deployment_selector,
    ),
    "statefulsets.apps": row(_ready, born, *_CONTAINERS),
    "daemonsets.apps": row(
        _status_count("desiredNumberScheduled"), _status_count("currentNumberScheduled"),
        _status_count("numberReady"), _status_count("updatedNumberScheduled"),
        _status_count("numberAvailable"), labels("spec.template.spec.nodeSelector"), born, *_CONTAINERS,
        _SELECTOR,
    ),
    "controllerrevisions.apps": row(_controller, ("revision", 0), born),
    "poddisruptionbudgets.policy": row(
        text("spec.minAvailable", "N/A"), text("spec.maxUnavailable", "N/A"),
        ("status.disruptionsAllowed", 0), born,
    ),
    "horizontalpodautoscalers.autoscaling": row(
        pair("spec.scaleTargetRef", "kind", "name", "/"), _targets, text("spec.minReplicas", UNSET),
        ("spec.maxReplicas", 0),
        ("status.currentReplicas", 0), born,
    ),
}  # fmt: skip
