"""Rules of workloads (upstream: apps/validation, batch/validation, core for ReplicationControllers)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.selectors import controller_selector_errors, workload_selector_errors
from ktui.writes.validation.values.checks import (
    Check,
    Row,
    at_least,
    below,
    count_or_percent,
    counts,
    demand,
    has,
    inside,
    one_of,
    whole_or_percent,
)
from ktui.writes.validation.values.pods import TEMPLATE, mounts
from ktui.writes.validation.values.schedules import schedule, time_zone

_MOST_PARALLEL, _LONGEST_CRON_JOB = 100_000, 52
_INDEXED = ("backoffLimitPerIndex", "maxFailedIndexes")


def _none(value: Any) -> bool:
    """Whether a number or percentage is zero."""
    return value in (None, 0) or (isinstance(value, str) and not value.rstrip("%").strip("0"))


def _strategy(strategy: Obj) -> Iterator[FieldError]:
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling is not None:
        yield forbidden(".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif rolling is not None and _none(rolling.get("maxUnavailable")) and _none(rolling.get("maxSurge")):
        shown = rolling.get("maxUnavailable") or 0
        yield invalid(".rollingUpdate.maxUnavailable", shown, "may not be 0 when `maxSurge` is 0")


def _progress(spec: Obj) -> Iterator[FieldError]:
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and 0 <= deadline <= (spec.get("minReadySeconds") or 0):
        yield invalid(".progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _daemon_update(strategy: Obj) -> Iterator[FieldError]:
    rolling = strategy.get("rollingUpdate")
    if strategy.get("type") != "RollingUpdate" or rolling is None:
        return
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    if _none(unavailable) and _none(surge):
        yield required(".rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif not _none(unavailable) and not _none(surge):
        yield invalid(".rollingUpdate.maxSurge", surge, "may not be set when maxUnavailable is non-zero")


_stateful_update = demand(
    lambda strategy: strategy.get("type") in ("RollingUpdate", "OnDelete"),
    "must be 'RollingUpdate' or 'OnDelete'",
)
_order = demand(("OrderedReady", "Parallel").__contains__, "must be 'OrderedReady' or 'Parallel'")


def _indexed(spec: Obj) -> Iterator[FieldError]:
    if spec.get("completionMode") == "Indexed":
        if spec.get("completions") is None:
            yield required(".completions", "when completion mode is Indexed")
        if (spec.get("parallelism") or 0) > _MOST_PARALLEL:
            why = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
            yield invalid(".parallelism", spec["parallelism"], why)
        return
    for name in _INDEXED:
        if spec.get(name) is not None:
            yield invalid(f".{name}", spec[name], "requires indexed completion mode")


def _failure_rule(rule: Obj) -> Iterator[FieldError]:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None and conditions:
        yield invalid("", rule, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif codes is None and not conditions:
        yield invalid("", rule, "specifying one of OnExitCodes and OnPodConditions is required")
    if codes is None:
        return
    values = codes.get("values") or []
    if not values:
        yield invalid(".onExitCodes.values", values, "at least one value is required")
    if codes.get("operator") == "In" and 0 in values:
        at = values.index(0)
        yield invalid(f".onExitCodes.values[{at}]", 0, "must not be 0 for the In operator")


def _generated(spec: Obj) -> Iterator[FieldError]:
    """The job of a CronJob gets its selector when it is made."""
    if spec.get("selector") is not None:
        yield invalid(".selector", spec["selector"], "`selector` will be auto-generated")
    if spec.get("manualSelector"):
        yield not_supported(".manualSelector", "true", ("nil", "false"))


def _cron_name(job: Obj) -> Iterator[FieldError]:
    name = str((job.get("metadata") or {}).get("name") or "")
    if len(name) > _LONGEST_CRON_JOB:
        yield invalid(".metadata.name", name, f"must be no more than {_LONGEST_CRON_JOB} characters")


def _endless(kind: str) -> Check:
    """The pods of this kind never end."""

    def check(template: Obj) -> Iterator[FieldError]:
        spec = template.get("spec") or {}
        if spec.get("restartPolicy") not in (None, "Always"):
            yield not_supported(".spec.restartPolicy", spec["restartPolicy"], ("Always",))
        if spec.get("activeDeadlineSeconds") is not None:
            yield forbidden(
                ".spec.activeDeadlineSeconds", f"activeDeadlineSeconds in {kind} is not Supported"
            )

    return check


def _ending(spec: Obj) -> Iterator[FieldError]:
    """The pods of a Job must end; with a policy for failures they are not restarted in place."""
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    field = ".template.spec.restartPolicy"
    if spec.get("podFailurePolicy") is not None and policy not in (None, "Never"):
        yield invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')
    elif policy == "Always":
        yield required(field, 'valid values: "OnFailure", "Never"')


def _mounted(spec: Obj) -> Iterator[FieldError]:
    pod = (spec.get("template") or {}).get("spec") or {}
    yield from inside(".template.spec", mounts(pod, spec.get("volumeClaimTemplates") or []))


def _partition(strategy: Obj) -> Iterator[FieldError]:
    rolling = strategy.get("rollingUpdate")
    if rolling is not None and strategy.get("type") not in (None, "RollingUpdate"):
        shown = {"Partition": rolling.get("partition"), "MaxUnavailable": rolling.get("maxUnavailable")}
        yield invalid(".rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")


_COUNTED = counts("replicas", "minReadySeconds", "revisionHistoryLimit")
_ROLLING: tuple[Row, ...] = (
    ("rollingUpdate.maxUnavailable", count_or_percent),
    ("rollingUpdate.maxSurge", whole_or_percent),
)
_TEMPLATE: tuple[Row, ...] = (*below("template", TEMPLATE), ("$", _mounted))


def _workload(kind: str, selects: Check = workload_selector_errors) -> tuple[Row, ...]:
    return (("", selects), *below("spec", _TEMPLATE), ("spec.template$", _endless(kind)))


DEPLOYMENT: tuple[Row, ...] = (
    *_workload("Deployment"),
    *below("spec", _COUNTED),
    ("spec.progressDeadlineSeconds", at_least(0)),
    ("spec$", _progress),
    ("spec.strategy.type", one_of("Recreate", "RollingUpdate")),
    ("spec.strategy", _strategy),
    *below("spec.strategy", _ROLLING),
)
REPLICA_SET: tuple[Row, ...] = (*_workload("ReplicaSet"), *below("spec", _COUNTED))
CONTROLLER: tuple[Row, ...] = (
    *_workload("ReplicationController", controller_selector_errors),
    *below("spec", _COUNTED),
)
DAEMON_SET: tuple[Row, ...] = (
    *_workload("DaemonSet"),
    *below("spec", _COUNTED),
    ("spec.updateStrategy.type", one_of("OnDelete", "RollingUpdate")),
    ("spec.updateStrategy", _daemon_update),
    *below("spec.updateStrategy", _ROLLING),
)
STATEFUL_SET: tuple[Row, ...] = (
    *_workload("StatefulSet"),
    *counts("spec.replicas", "spec.minReadySeconds"),
    ("spec.podManagementPolicy", _order),
    ("spec.updateStrategy", _stateful_update),
    ("spec.updateStrategy", _partition),
    ("spec.updateStrategy.rollingUpdate.partition", at_least(0)),
    ("spec.updateStrategy.rollingUpdate.maxUnavailable", count_or_percent),
    ("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", one_of("Delete", "Retain")),
    ("spec.persistentVolumeClaimRetentionPolicy.whenScaled", one_of("Delete", "Retain")),
    ("spec.ordinals.start", at_least(0)),
)
_JOB: tuple[Row, ...] = (
    *counts("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *counts(*_INDEXED),
    ("completionMode", one_of("Indexed", "NonIndexed")),
    ("podReplacementPolicy", one_of("Failed", "TerminatingOrFailed")),
    ("", _indexed),
    ("podFailurePolicy.rules[].action", one_of("Count", "FailIndex", "FailJob", "Ignore")),
    ("podFailurePolicy.rules[]", has("action")),
    ("podFailurePolicy.rules[]", _failure_rule),
    ("podFailurePolicy.rules[].onExitCodes.operator", one_of("In", "NotIn")),
    *_TEMPLATE,
    ("$", _ending),
)
JOB: tuple[Row, ...] = (("", workload_selector_errors), *below("spec", _JOB))
CRON_JOB: tuple[Row, ...] = (
    ("", _cron_name),
    ("spec", has("schedule")),
    ("spec.schedule", schedule),
    ("spec.timeZone", time_zone),
    ("spec.startingDeadlineSeconds", at_least(0)),
    ("spec.concurrencyPolicy", one_of("Allow", "Forbid", "Replace")),
    *counts("spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit"),
    *below("spec.jobTemplate.spec", _JOB),
    ("spec.jobTemplate.spec", _generated),
)
