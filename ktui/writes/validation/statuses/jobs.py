"""Rules of a Job's status, most of them only of what changes (upstream: ValidateJobStatusUpdate)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, required, unfit
from ktui.kube.json_trees import Obj
from ktui.writes.validation.updates.field_rules import IMMUTABLE, same, spec_of
from ktui.writes.validation.values.checks import counts, duplicate, inside, table_of
from ktui.writes.validation.values.jobs import indexes_of, overlap_of

_counts = table_of(*counts("active", "succeeded", "failed", "ready", "terminating"))
_END = {"Complete", "Failed"}
_CONDITIONS = ".conditions"


@limited
def job(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Yield the errors of a Job's status (upstream: ValidateJobUpdateStatus, getStatusValidationOptions)."""
    was, now, spec = old.get("status") or {}, new.get("status") or {}, spec_of(new)
    before, after = true_conditions(was), true_conditions(now)
    changed = _changes(was, now, before ^ after)
    parts = (
        _counts(now), _uncounted(now), _times(now, after, changed), _ends(now, spec, after, changed),
        _indexes(now, spec, changed), _pods(now, after, changed), _criteria(spec, after),
        _back(was, now, spec, before - after, _resumes(was, now)), _criteria_back(before, after),
    )  # fmt: skip
    yield from inside("status", chain(*parts))


def true_conditions(status: Obj) -> set[Any]:
    """Return the types of the conditions that are true."""
    return {each.get("type") for each in status.get("conditions") or [] if each.get("status") == "True"}


_FIELDS = (
    "active", "completedIndexes", "completionTime", "failedIndexes", "ready", "startTime", "terminating",
    "uncountedTerminatedPods",
)  # fmt: skip


def _changes(was: Obj, now: Obj, conditions: set[Any]) -> set[str]:
    """Return the fields and conditions that change, and "end" if the Job ends or is no longer ended."""
    changed = {name for name in _FIELDS if not same(was.get(name), now.get(name))}
    ends = bool(true_conditions(was) & _END) != bool(true_conditions(now) & _END)
    return {*changed, *map(str, conditions), *(("end",) if ends else ())}


def _uncounted(now: Obj) -> Iterator[FieldError]:
    """Pods that have ended but are not yet counted have uids, each once."""
    seen: set[Any] = set()
    for member in ("succeeded", "failed"):
        for at, uid in enumerate((now.get("uncountedTerminatedPods") or {}).get(member) or []):
            field = f".uncountedTerminatedPods.{member}[{at}]"
            if not uid:
                yield invalid(field, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(field, uid)
            seen.add(uid)


def _times(now: Obj, true: set[Any], changed: Collection[str]) -> Iterator[FieldError]:
    """A Job is either complete or failed; only a complete one has the time of its completion."""
    start, end, complete = now.get("startTime"), now.get("completionTime"), "Complete" in true
    if complete and "Failed" in true and _any("Complete", "Failed", of=changed):
        yield unfit(_CONDITIONS, "cannot set Complete=True and Failed=true conditions")
    if complete and "FailureTarget" in true and _any("Complete", "FailureTarget", of=changed):
        yield unfit(_CONDITIONS, "cannot set Complete=True and FailureTarget=true conditions")
    if _any("Complete", "completionTime", of=changed):
        if end is not None and not complete:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield invalid(".completionTime", end, why)
        elif end is None and complete:
            yield required(".completionTime", "completionTime is required for Complete jobs")
    if (
        start is not None
        and end is not None
        and end < start
        and _any("startTime", "completionTime", of=changed)
    ):
        yield invalid(".completionTime", end, "must be equal to or after `startTime`")


def _any(*names: str, of: Collection[str]) -> bool:
    return any(name in of for name in names)


def _ends(now: Obj, spec: Obj, true: set[Any], changed: Collection[str]) -> Iterator[FieldError]:
    """What precedes the end of a Job, and what must be over then."""
    if "Failed" in true and "FailureTarget" not in true and _any("Failed", "failedIndexes", of=changed):
        yield unfit(_CONDITIONS, "cannot set Failed=True condition without the FailureTarget=true condition")
    met = "SuccessCriteriaMet"
    if "Complete" in true and met not in true and _any("Complete", met, of=changed):
        yield unfit(_CONDITIONS, f"cannot set Complete=True condition without the {met}=true condition")
    if not true & _END:
        return
    active, uncounted = now.get("active") or 0, now.get("uncountedTerminatedPods") or {}
    if active > 0 and _any("end", "active", of=changed):
        yield invalid(".active", active, "active>0 is invalid for finished job")
    never_ran = spec.get("suspend") is True and spec.get("completions") == 0
    if now.get("startTime") is None and _any("end", "startTime", of=changed) and not never_ran:
        yield required(".startTime", "startTime is required for finished job")
    if any(uncounted.values()) and _any("end", "uncountedTerminatedPods", of=changed):
        shown = {"Succeeded": uncounted.get("succeeded"), "Failed": uncounted.get("failed")}
        yield invalid(".uncountedTerminatedPods", shown, "must be empty for finished job")


def _indexes(now: Obj, spec: Obj, changed: Collection[str]) -> Iterator[FieldError]:
    """The indexes of an indexed Job, none of which both completes and fails."""
    done, failed = now.get("completedIndexes") or "", now.get("failedIndexes")
    completions, limit = spec.get("completions"), spec.get("backoffLimitPerIndex")
    given = {"completedIndexes": done, "failedIndexes": failed if limit is not None else None}
    for name, text in given.items():
        if name in changed and text is not None and completions is not None:
            _, fault = indexes_of(text, completions)
            if fault:
                yield invalid(f".{name}", text, f"error parsing {name}: {fault}")
    if "completedIndexes" in changed and done and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid(".completedIndexes", done, why)
    if failed is None:
        return
    if "failedIndexes" in changed and limit is None:
        yield invalid(
            ".failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        )
    if completions is not None and _any("completedIndexes", "failedIndexes", of=changed):
        index = overlap_of(done, failed, completions)
        if index is not None:
            yield invalid(
                ".failedIndexes", failed, f"failedIndexes and completedIndexes overlap at index: {index}"
            )


def _pods(now: Obj, true: set[Any], changed: Collection[str]) -> Iterator[FieldError]:
    terminating, ready = now.get("terminating") or 0, now.get("ready")
    if terminating > 0 and true & _END and _any("end", "terminating", of=changed):
        yield invalid(".terminating", terminating, "terminating>0 is invalid for finished job")
    if ready is not None and ready > (now.get("active") or 0) and _any("ready", "active", of=changed):
        yield invalid(".ready", ready, "cannot set more ready pods than active")


def _criteria(spec: Obj, true: set[Any]) -> Iterator[FieldError]:
    """A Job that meets its criteria of success does not fail."""
    met = "SuccessCriteriaMet"
    for other in ("Failed", "FailureTarget"):
        if met in true and other in true:
            yield unfit(_CONDITIONS, f"cannot set {met}=True and {other}=true conditions")
    if spec.get("successPolicy") is not None and met not in true and "Complete" in true:
        why = f"cannot set Complete=True for Job with SuccessPolicy unless {met}=True"
        yield unfit(_CONDITIONS, why)


def _resumes(was: Obj, now: Obj) -> bool:
    """Whether a Job goes on after it was suspended."""
    over = any(
        each.get("type") == "Suspended" and each.get("status") == "False"
        for each in now.get("conditions") or []
    )
    return over and "Suspended" in true_conditions(was)


def _back(was: Obj, now: Obj, spec: Obj, gone: set[Any], resumes: bool) -> Iterator[FieldError]:
    """A Job's end is final, its counters only grow, its times stay."""
    for kind in ("Failed", "Complete", "FailureTarget"):
        if kind in gone:
            yield unfit(_CONDITIONS, f"cannot disable the terminal {kind}=True condition")
    scales = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for name in ("failed", "succeeded"):
        count = now.get(name) or 0
        if count < (was.get(name) or 0) and not (name == "succeeded" and scales):
            yield invalid(f".{name}", count, f"cannot decrease the {name} counter")
    end, before = now.get("completionTime"), was.get("completionTime")
    if None not in (end, before) and end != before:
        yield invalid(".completionTime", end, IMMUTABLE)
    start, before = now.get("startTime"), was.get("startTime")
    if before not in (None, start) and not spec.get("suspend") and not resumes:
        yield invalid(".startTime", start, "field is immutable for unsuspended job once set")


def _criteria_back(before: set[Any], after: set[Any]) -> Iterator[FieldError]:
    met = "SuccessCriteriaMet"
    if met in before - after:
        yield unfit(_CONDITIONS, f"cannot disable the {met}=True condition")
    if "Complete" in before and met in after - before:
        yield unfit(_CONDITIONS, f"cannot set {met}=True for Job already has Complete=true conditions")
