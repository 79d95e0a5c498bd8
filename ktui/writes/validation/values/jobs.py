"""Rules of Jobs and CronJobs, in upstream's order (batch/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial

from ktui.kube.fielderrors import (
    FieldError,
    domain_path,
    invalid,
    not_supported,
    required,
    too_long,
    unfit,
)
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults
from ktui.writes.validation.selectors import label_selector_errors, selector_shown, template_mismatch
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    at_most,
    at_most_bytes,
    below,
    counts,
    demand,
    duplicate,
    every,
    has,
    inside,
    label_key,
    listed,
    natural,
    needed,
    needs,
    one_of,
    table_of,
)
from ktui.writes.validation.values.pods import template_errors
from ktui.writes.validation.values.schedules import schedule, time_zone

_MOST_PARALLEL, _MOST_FAILED, _MANY, _FEW, _MOST_RULES = 100_000, 100_000, 100_000, 10_000, 20
_MOST_CODES, _LONGEST_MANAGER, _LONGEST_CRON_JOB, _LONGEST_INDEXES = 255, 63, 52, 64 * 1024
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_NUMBER = re.compile(r"\+?[0-9]{1,18}")


def _known(*values: str) -> Check:
    """Demand one of these texts; the error of an empty one lists them as Go prints them."""
    return needed(listed(*values), f"valid values: [{' '.join(map(quote, values))}]")


def _mode(spec: Obj) -> Iterator[FieldError]:
    mode, parallel = spec.get("completionMode"), spec.get("parallelism")
    if mode not in (None, "NonIndexed", "Indexed"):
        yield not_supported(".completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        if spec.get("completions") is None:
            yield required(".completions", "when completion mode is Indexed")
        if (parallel or 0) > _MOST_PARALLEL:
            why = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
            yield invalid(".parallelism", parallel, why)
        yield from _failed_indexes(spec)
    elif mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                yield invalid(f".{name}", spec[name], "requires indexed completion mode")


def _failed_indexes(spec: Obj) -> Iterator[FieldError]:
    """Check the most indexes that may fail, and what many indexes require."""
    completions, failed, parallel = (spec.get(n) for n in ("completions", "maxFailedIndexes", "parallelism"))
    if completions is not None and failed is not None and failed > completions:
        yield invalid(".maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MOST_FAILED:
        yield invalid(".maxFailedIndexes", failed, f"must be less than or equal to {_MOST_FAILED}")
    if (completions or 0) <= _MANY or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        yield required(".maxFailedIndexes", f"must be specified when completions is above {_MANY}")
    when = f"when completions are above {_MANY} and used with backoff limit per index"
    why = f"must be less than or equal to {_FEW} {when}"
    for name, value in (("parallelism", parallel), ("maxFailedIndexes", failed)):
        if value is not None and value > _FEW:
            yield invalid(f".{name}", value, why)


def _failure_policy(spec: Obj) -> Iterator[FieldError]:
    if not (rules := (spec.get("podFailurePolicy") or {}).get("rules")):
        return
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {each.get("name") for n in ("containers", "initContainers") for each in pod.get(n) or []}
    rule = table_of(
        ("action:text", partial(_action, spec)), ("onExitCodes", partial(_codes, names)),
        ("onPodConditions", at_most(_MOST_RULES)), ("onPodConditions[].type:text", label_key),
        ("onPodConditions[].status:text", _status), ("", _codes_or_conditions),
    )  # fmt: skip
    yield from inside(".podFailurePolicy.rules", every(at_most(_MOST_RULES), table_of(("[]", rule)))(rules))


def _codes_or_conditions(rule: Obj) -> Iterable[FieldError]:
    codes, conditions = rule.get("onExitCodes") is not None, bool(rule.get("onPodConditions"))
    if codes != conditions:
        return ()
    which = "specifying both OnExitCodes and OnPodConditions is not supported"
    return [unfit("", which if codes else "specifying one of OnExitCodes and OnPodConditions is required")]


_status, _operator, _known_action = (
    _known("False", "True", "Unknown"),
    _known("In", "NotIn"),
    _known(*ACTIONS),
)


def _action(spec: Obj, action: str) -> Iterable[FieldError]:
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        return [invalid("", action, "requires the backoffLimitPerIndex to be set")]
    return _known_action(action)


def _codes(names: set[str | None], codes: Obj) -> Iterator[FieldError]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    yield from inside(".operator", _operator(operator))
    if (name := codes.get("containerName")) is not None and name not in names:
        why = "must be one of the container or initContainer names in the pod template"
        yield invalid(".containerName", name, why)
    if not values:
        yield invalid(".values", codes.get("values"), "at least one value is required")
    yield from inside(".values", at_most(_MOST_CODES)(values))
    seen = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield invalid(f".values[{index}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(f".values[{index}]", value)
        seen.add(value)
    if values != sorted(values):
        yield invalid(".values", values, "must be ordered")


def _success_policy(spec: Obj) -> Iterator[FieldError]:
    policy = spec.get("successPolicy")
    if policy is None:
        return
    if spec.get("completionMode") != "Indexed":
        names = {"SucceededIndexes": "succeededIndexes", "SucceededCount": "succeededCount"}
        rules = [{shown: rule.get(n) for shown, n in names.items()} for rule in policy.get("rules") or []]
        # as upstream shows its internal type
        found = None if policy.get("rules") is None else rules
        yield invalid(".successPolicy", {"Rules": found}, "requires indexed completion mode")
        return
    why = "at least one rules must be specified when the successPolicy is specified"
    success = partial(_success, spec.get("completions") or 0)
    check = table_of(("", has("rules", why=why)), ("rules", at_most(_MOST_RULES)), ("rules[]", success))
    yield from inside(".successPolicy", check(policy))


def _success(completions: int, rule: Obj) -> Iterator[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        yield required("", "at least one of succeededCount or succeededIndexes must be specified")
    total = 0
    if indexes is not None:
        if len(indexes.encode()) > _LONGEST_INDEXES:
            yield too_long(".succeededIndexes", _LONGEST_INDEXES)
        total, fault = indexes_of(indexes, completions)
        if fault:
            yield invalid(".succeededIndexes", indexes, f"error parsing succeededIndexes: {fault}")
    if count is None:
        return
    yield from inside(".succeededCount", natural(count))
    most = "must be less than or equal to"
    if count > completions:
        why = f"{most} {completions} (the number of specified completions)"
        yield invalid(".succeededCount", count, why)
    if indexes is not None and count > total:
        why = f"{most} {total} (the number of indexes in the specified succeededIndexes field)"
        yield invalid(".succeededCount", count, why)


def indexes_of(text: str, completions: int) -> tuple[int, str]:
    """Return how many indexes `1,3-5` names, and what is wrong with it: (0, fault) or (count, "")."""
    total, last = 0, -1
    for piece in text.split(",") if text else ():
        first, final, fault = _interval(piece, completions)
        if fault:
            return 0, fault
        if first <= last:
            return 0, f"non-increasing order, previous: {last}, current: {first}"
        total += final - first + 1
        last = final
    return total, ""


def _interval(piece: str, completions: int) -> tuple[int, int, str]:
    """Return the first and the last index of `3-5`, and its fault (upstream: parseIndexInterval)."""
    bounds = piece.split("-")
    if len(bounds) > 2:
        what = "an index interval can have at most two parts separated by '-'"
        return 0, 0, f"the fragment {quote(piece)} violates the requirement that {what}"
    numbers = []
    for bound in bounds:
        if not _NUMBER.fullmatch(bound):
            return 0, 0, f"cannot convert string to integer for index: {quote(bound)}"
        numbers.append(int(bound))
        if numbers[-1] >= completions:
            return 0, 0, f"too large index: {quote(bound)}"
    if len(numbers) > 1 and numbers[1] <= numbers[0]:
        return 0, 0, f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}"
    return numbers[0], numbers[-1], ""


def overlap_of(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index that both name; what is no interval is left out."""
    done, lost = (
        [piece[:2] for each in text.split(",") if not (piece := _interval(each, completions))[2]]
        for text in (completed, failed)
    )
    at = other = 0
    while at < len(done) and other < len(lost):
        (first, last), (start, end) = done[at], lost[other]
        if first <= end and start <= last:
            return max(first, start)
        if first <= start:
            at += 1
        else:
            other += 1
    return None


def _template(spec: Obj) -> Iterator[FieldError]:
    """When failed pods are replaced, and the pods themselves, which must end.

    With a policy for failures they are replaced only once they have failed, and not restarted in place.
    """
    replacement = spec.get("podReplacementPolicy")
    possible = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in possible:
        yield not_supported(".podReplacementPolicy", replacement, possible)
    template = spec.get("template") or {}
    yield from inside(".template", template_errors(template))
    policy = (template.get("spec") or {}).get("restartPolicy")
    field = ".template.spec.restartPolicy"
    if policy in (None, "", "Always"):
        yield required(field, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(field, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _selector(spec: Obj) -> Iterator[FieldError]:
    selector = spec.get("selector")
    errors = label_selector_errors(selector, ".selector")
    if selector is None:
        yield required(".selector")
    yield from errors or template_mismatch(spec)


def _indexed_name(job: Obj) -> Iterator[FieldError]:
    """The pods of an indexed Job are named by it and their index."""
    spec, name = job.get("spec") or {}, str((job.get("metadata") or {}).get("name") or "")
    completions = spec.get("completions") or 0
    host = f"{name}-{completions - 1}"
    if spec.get("completionMode") == "Indexed" and completions > 0 and dns_label_faults(host):
        why = f"will not able to create pod with invalid DNS label: {host}"
        yield invalid(".metadata.name", name, why)


def _generated(spec: Obj) -> Iterator[FieldError]:
    """The job of a CronJob gets its selector when it is made."""
    if spec.get("selector") is not None:
        yield invalid(".selector", selector_shown(spec["selector"]), "`selector` will be auto-generated")
    if spec.get("manualSelector"):
        yield not_supported(".manualSelector", True, ("nil", "false"))


_JOB: Rows = (
    *counts("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"),
    *counts("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"),
    ("", needs(lambda s: s.get("maxFailedIndexes") is None or s.get("backoffLimitPerIndex") is not None,
               ".backoffLimitPerIndex", "when maxFailedIndexes is specified")),
    ("managedBy", domain_path), ("managedBy", at_most_bytes(_LONGEST_MANAGER)),
    *(("", check) for check in (_mode, _failure_policy, _success_policy, _template)),
)  # fmt: skip
JOB_SPEC: Rows = (*below("spec", _JOB), ("spec", _selector))
_LONG_NAME = f"must be no more than {_LONGEST_CRON_JOB} characters"
KINDS: dict[str, Rows] = {
    "cronjobs.batch": (
        ("spec", has("schedule")), ("spec.schedule", schedule), ("spec.startingDeadlineSeconds", natural),
        ("spec.timeZone", time_zone), ("spec.concurrencyPolicy", one_of("Allow", "Forbid", "Replace")),
        *below("spec.jobTemplate.spec", _JOB), ("spec.jobTemplate.spec", _generated),
        *counts("spec.successfulJobsHistoryLimit", "spec.failedJobsHistoryLimit"),
        ("metadata.name", demand(lambda name: len(name) <= _LONGEST_CRON_JOB, _LONG_NAME)),
    ),
    "jobs.batch": (*JOB_SPEC, ("", _indexed_name)),
}  # fmt: skip
