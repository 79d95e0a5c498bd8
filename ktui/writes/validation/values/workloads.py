"""Rules of workloads (upstream: apps/validation, batch/validation, core for ReplicationControllers).

Schedules of CronJobs are parsed as the cron library of kube-controller-manager does.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.times import parse_duration
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


_MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9}
_MONTHS |= {"oct": 10, "nov": 11, "dec": 12}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
# Least and most of each field, and the names of its values.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}), (0, 23, {}), (1, 31, {}), (1, 12, _MONTHS), (0, 6, _DAYS),
)  # fmt: skip
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = "@every "
_ZONE = re.compile(r"[A-Za-z0-9_+\-/]+")
_LONGEST = 1000


def schedule(text: str) -> Iterator[FieldError]:
    if fault := schedule_fault(text):
        yield invalid("", text, fault)
    if "TZ" in text:
        yield invalid("", text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def time_zone(name: str) -> Iterator[FieldError]:
    if not name:
        yield required("", "must be nil or non-empty string")
    elif name.lower() == "local":
        yield invalid(
            "", name, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    elif not _known(name):
        yield invalid("", name, f"unknown time zone {name}")


def _known(name: str) -> bool:
    return bool(_ZONE.fullmatch(name)) and len(name) <= 100 and (_loads(name) or not _loads("UTC"))


def _loads(name: str) -> bool:
    """Whether this machine has the time zone; one without any cannot tell."""
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True


def schedule_fault(text: str) -> str:
    """Return why a schedule cannot be parsed, "" if it can."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        text = text.partition(" ")[2].strip()
    if text.startswith("@"):
        return _descriptor_fault(text)
    if len(text) > _LONGEST:
        return f"expected a schedule of at most {_LONGEST} characters"
    parts = text.split()
    if len(parts) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(parts)}: [{' '.join(parts)}]"
    for part, (least, most, names) in zip(parts, _FIELDS, strict=True):
        for piece in part.split(","):
            if piece and (fault := _piece_fault(piece, least, most, names)):
                return fault
    return ""


def _descriptor_fault(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if not text.startswith(_EVERY):
        return f"unrecognized descriptor: {text}"
    try:
        parse_duration(text.removeprefix(_EVERY))
    except ValueError as error:
        return f"failed to parse duration {text}: {error}"
    return ""


def _piece_fault(piece: str, least: int, most: int, names: dict[str, int]) -> str:
    """Check `*`, `5`, `5-9` or one of them with a step: `*/5`."""
    span, *steps = piece.split("/")
    low, *highs = span.split("-")
    if len(steps) > 1:
        return f"too many slashes: {piece}"
    if low in ("*", "?"):
        start, end = least, most
    elif len(highs) > 1:
        return f"too many hyphens: {piece}"
    else:
        found = [_number(text, names) for text in (low, *highs)]
        for text, value in zip((low, *highs), found, strict=True):
            if value is None:
                return f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax"
        start = found[0] or 0
        end = (found[-1] or 0) if highs else (most if steps else start)
    if steps and not (_number(steps[0], {}) or 0):
        return f"step of range should be a positive number: {piece}"
    if start < least:
        return f"beginning of range ({start}) below minimum ({least}): {piece}"
    if end > most:
        return f"end of range ({end}) above maximum ({most}): {piece}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {piece}"
    return ""


def _number(text: str, names: dict[str, int]) -> int | None:
    if text.lower() in names:
        return names[text.lower()]
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


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
