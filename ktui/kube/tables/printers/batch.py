"""Printers of Jobs and CronJobs."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.age import Age, age, human_duration, unix_time
from ktui.kube.tables.fields import (
    NONE,
    UNSET,
    Obj,
    condition,
    containers,
    deleting,
    dig,
    selector_text,
    size,
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


PRINTERS = {"cronjobs.batch": cronjobs, "jobs.batch": jobs}
