"""Printers of workloads, Jobs, autoscalers and disruption budgets."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    UNSET,
    Age,
    Obj,
    age,
    condition,
    containers,
    deleting,
    dig,
    human_duration,
    items,
    labels_text,
    selector_text,
    size,
    unix_time,
)
from ktui.kube.tables.printers.core import born


def cronjobs(obj: Obj) -> list[Any]:
    suspend = dig(obj, "spec.suspend")
    last = dig(obj, "status.lastScheduleTime")
    selector = dig(obj, "spec.jobTemplate.spec.selector")
    return [
        dig(obj, "spec.schedule", ""),
        dig(obj, "spec.timeZone") or NONE,
        UNSET if suspend is None else str(suspend),
        size(obj, "status.active"),
        age(last) if last else NONE,
        born(obj),
        *containers(obj, "spec.jobTemplate.spec.template"),
        selector_text(selector),
    ]


def jobs(obj: Obj) -> list[Any]:
    return [
        _status(obj),
        _completions(obj),
        _duration(obj),
        born(obj),
        *containers(obj, "spec.template"),
        selector_text(dig(obj, "spec.selector")),
    ]


def _status(job: Obj) -> str:
    holds = [kind for kind in ("Complete", "Failed") if _is(job, kind)]
    if not holds and deleting(job):
        return "Terminating"
    holds += [kind for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if _is(job, kind)]
    return holds[0] if holds else "Running"


def _is(job: Obj, kind: str) -> bool:
    return condition(job, kind).get("status") == "True"


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


_TEMPLATE = "spec.template"


def replicationcontrollers(obj: Obj) -> list[Any]:
    return [*_replicas(obj), *containers(obj, _TEMPLATE), labels_text(dig(obj, "spec.selector"))]


def replicasets(obj: Obj) -> list[Any]:
    return [*_replicas(obj), *containers(obj, _TEMPLATE), selector_text(dig(obj, "spec.selector"))]


def _replicas(obj: Obj) -> list[Any]:
    counts = [dig(obj, path, 0) for path in ("spec.replicas", "status.replicas", "status.readyReplicas")]
    return [*counts, born(obj)]


def deployments(obj: Obj) -> list[Any]:
    return [
        _ready(obj),
        dig(obj, "status.updatedReplicas", 0),
        dig(obj, "status.availableReplicas", 0),
        born(obj),
        *containers(obj, _TEMPLATE),
        selector_text(dig(obj, "spec.selector")),
    ]


def statefulsets(obj: Obj) -> list[Any]:
    return [_ready(obj), born(obj), *containers(obj, _TEMPLATE)]


def _ready(obj: Obj) -> str:
    return f"{dig(obj, 'status.readyReplicas', 0)}/{dig(obj, 'spec.replicas', 0)}"


def daemonsets(obj: Obj) -> list[Any]:
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        *(dig(obj, f"status.{count}", 0) for count in counts),
        labels_text(dig(obj, "spec.template.spec.nodeSelector")),
        born(obj),
        *containers(obj, _TEMPLATE),
        selector_text(dig(obj, "spec.selector")),
    ]


def controllerrevisions(obj: Obj) -> list[Any]:
    owner = next((o for o in items(obj, "metadata.ownerReferences") if o.get("controller")), None)
    return [_owner(owner) if owner else NONE, dig(obj, "revision", 0), born(obj)]


def _owner(reference: Obj) -> str:
    group = str(reference.get("apiVersion", "")).rpartition("/")[0]
    kind = f"{reference.get('kind', '')}.{group}" if group else str(reference.get("kind", ""))
    return f"{kind.lower()}/{reference.get('name', '')}"


def poddisruptionbudgets(obj: Obj) -> list[Any]:
    return [
        str(dig(obj, "spec.minAvailable", "N/A")),
        str(dig(obj, "spec.maxUnavailable", "N/A")),
        dig(obj, "status.disruptionsAllowed", 0),
        born(obj),
    ]


def horizontalpodautoscalers(obj: Obj) -> list[Any]:
    target = dig(obj, "spec.scaleTargetRef", {})
    minimum = dig(obj, "spec.minReplicas")
    return [
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _targets(obj),
        UNSET if minimum is None else str(minimum),
        dig(obj, "spec.maxReplicas", 0),
        dig(obj, "status.currentReplicas", 0),
        born(obj),
    ]


def _targets(autoscaler: Obj) -> str:
    specs = items(autoscaler, "spec.metrics") or _v1_metrics(autoscaler)
    if not specs:
        return NONE
    statuses = items(autoscaler, "status.currentMetrics") or _v1_current(autoscaler)
    texts = [_metric(spec, statuses[i] if i < len(statuses) else {}) for i, spec in enumerate(specs)]
    shown = ", ".join(texts[:2])
    return f"{shown} + {len(texts) - 2} more..." if len(texts) > 2 else shown


def _v1_metrics(autoscaler: Obj) -> list[Any]:
    percent = dig(autoscaler, "spec.targetCPUUtilizationPercentage")
    return [] if percent is None else [_cpu("target", percent)]


def _v1_current(autoscaler: Obj) -> list[Any]:
    percent = dig(autoscaler, "status.currentCPUUtilizationPercentage")
    return [] if percent is None else [_cpu("current", percent)]


def _cpu(side: str, percent: int) -> Obj:
    return {"type": "Resource", "resource": {"name": "cpu", side: {"averageUtilization": percent}}}


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


PRINTERS = {
    "cronjobs.batch": cronjobs,
    "jobs.batch": jobs,
    "replicationcontrollers": replicationcontrollers,
    "replicasets.apps": replicasets,
    "deployments.apps": deployments,
    "statefulsets.apps": statefulsets,
    "daemonsets.apps": daemonsets,
    "controllerrevisions.apps": controllerrevisions,
    "poddisruptionbudgets.policy": poddisruptionbudgets,
    "horizontalpodautoscalers.autoscaling": horizontalpodautoscalers,
}
