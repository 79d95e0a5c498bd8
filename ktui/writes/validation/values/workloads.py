"""Rules of workloads, in upstream's order (apps/validation, and core's for ReplicationControllers)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.writes.validation.selectors import label_selector_errors, selector_shown, template_mismatch
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    below,
    counts,
    demand,
    dns_label,
    inside,
    natural,
    not_above_all,
    one_of,
    whole_or_percent,
)
from ktui.writes.validation.values.claims import CLAIM_SPEC
from ktui.writes.validation.values.pods import template_errors


def _none(value: Any) -> bool:
    """Whether a number or percentage is zero, as an invalid one is."""
    if isinstance(value, str):
        digits = value[:-1] if value.endswith("%") else ""
        return not (digits.isascii() and digits.isdigit() and int(digits))
    return not value


def _rolls(rolling: Obj) -> Iterator[FieldError]:
    """Check how a Deployment rolls: something may be missing, or something may be too many."""
    missing, more = _limits(rolling)
    yield from inside(".maxUnavailable", whole_or_percent(missing))
    yield from inside(".maxSurge", whole_or_percent(more))
    if _none(missing) and _none(more):
        yield invalid(".maxUnavailable", missing, "may not be 0 when `maxSurge` is 0")
    yield from inside(".maxUnavailable", not_above_all(missing))


def _limits(rolling: Obj) -> tuple[Any, Any]:
    """Return how many may be missing, and how many too many; without a limit none."""
    missing, more = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    return 0 if missing is None else missing, 0 if more is None else more


def _strategy(strategy: Obj) -> Iterator[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield forbidden(".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        yield from inside(".rollingUpdate", _rolls(rolling or {}))
    else:
        yield not_supported("", _shown_type(strategy), ("Recreate", "RollingUpdate"))


def _shown_type(strategy: Obj) -> Any:
    """Return a strategy as upstream shows it: all members of its internal type."""
    rolling = strategy.get("rollingUpdate")
    names = ("partition", "maxUnavailable", "maxSurge")
    shown = rolling and {n[0].upper() + n[1:]: rolling[n] for n in names if n in rolling}
    return {"Type": strategy.get("type") or "", "RollingUpdate": shown}


def _progress(spec: Obj) -> Iterator[FieldError]:
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is None:
        return
    yield from inside(".progressDeadlineSeconds", natural(deadline))
    if deadline <= (spec.get("minReadySeconds") or 0):
        yield invalid(".progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _daemon_update(strategy: Obj) -> Iterator[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "RollingUpdate":
        yield from inside(".rollingUpdate", _daemons_roll(rolling or {}))
    elif kind != "OnDelete":
        yield not_supported("", _shown_type(strategy), ("RollingUpdate", "OnDelete"))


def _daemons_roll(rolling: Obj) -> Iterator[FieldError]:
    missing, more = _limits(rolling)
    for check in (whole_or_percent, not_above_all):
        yield from inside(".maxUnavailable", check(missing))
        yield from inside(".maxSurge", check(more))
    if _none(missing) and _none(more):
        yield required(".maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif not _none(missing) and not _none(more):
        yield invalid(".maxSurge", more, "may not be set when maxUnavailable is non-zero")


def _stateful_update(strategy: Obj) -> Iterator[FieldError]:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if not kind:
        yield required("")
    elif kind == "OnDelete":
        if rolling is not None:
            shown = {"Partition": rolling.get("partition"), "MaxUnavailable": rolling.get("maxUnavailable")}
            yield invalid(".rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind != "RollingUpdate":
        yield invalid("", _shown_type(strategy), "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None:
        yield from inside(".rollingUpdate.partition", natural(rolling.get("partition") or 0))
        if (missing := rolling.get("maxUnavailable")) is not None:
            field = ".rollingUpdate.maxUnavailable"
            yield from inside(field, whole_or_percent(missing))
            if _none(missing):
                yield invalid(field, missing, "cannot be 0")
            yield from inside(field, not_above_all(missing))


def _selects(kind: str) -> Check:
    """Check a workload's selector, and the template that it has to match."""

    def check(spec: Obj) -> Iterator[FieldError]:
        selector = spec.get("selector")
        errors = label_selector_errors(selector, ".selector")
        if selector is None:
            yield required(".selector")
        yield from errors
        if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
            yield invalid(".selector", {}, f"empty selector is invalid for {kind}")
        if errors:
            why = "" if kind == "statefulset" else "invalid label selector"
            yield invalid(".selector", selector_shown(selector), why)
            return
        yield from template_mismatch(spec)
        yield from _template(spec)

    return check


def _template(spec: Obj) -> Iterator[FieldError]:
    template, claims = spec.get("template") or {}, spec.get("volumeClaimTemplates") or []
    names = dict.fromkeys(str((claim.get("metadata") or {}).get("name") or "") for claim in claims)
    if names:
        template = {**template, "spec": _with_claims(template.get("spec") or {}, list(names))}
    yield from inside(".template", template_errors(template))


def _with_claims(pod: Obj, names: list[str]) -> Obj:
    """Return a pod's spec as a StatefulSet makes it: the volumes of its claims come first."""
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    own = [volume for volume in pod.get("volumes") or [] if volume.get("name") not in names]
    return {**pod, "volumes": [*claimed, *own], "hostname": "", "subdomain": ""}


def _daemon_selects(spec: Obj) -> Iterator[FieldError]:
    """Check a DaemonSet's selector; upstream notices that it is missing only because it does not match."""
    selector = spec.get("selector")
    yield from label_selector_errors(selector, ".selector") or template_mismatch(spec)
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield invalid(".selector", {}, "empty selector is invalid for daemonset")
    yield from _template(spec)


def _endless(kind: str) -> Check:
    """The pods of this kind never end."""

    def check(spec: Obj) -> Iterator[FieldError]:
        pod = (spec.get("template") or {}).get("spec") or {}
        if (policy := pod.get("restartPolicy")) not in (None, "Always"):
            yield not_supported(".template.spec.restartPolicy", policy, ("Always",))
        if pod.get("activeDeadlineSeconds") is not None:
            why = f"activeDeadlineSeconds in {kind} is not Supported"
            yield forbidden(".template.spec.activeDeadlineSeconds", why)

    return check


def _controls(spec: Obj) -> Iterator[FieldError]:
    """Check a ReplicationController's selector, which is a map of labels, and its template."""
    if not spec.get("selector"):
        yield required(".selector")
    yield from inside(".replicas", natural(spec.get("replicas") or 0))
    if spec.get("template") is None:
        yield required(".template")
        return
    if spec.get("selector"):
        yield from template_mismatch(spec)
    yield from _template(spec)


def _stateful_set(claims: Rows = (), name: Rows = ()) -> Rows:
    """Return the rules of a StatefulSet, with those of members that are checked only in a new one."""
    return (
        ("spec.podManagementPolicy", demand(("OrderedReady", "Parallel").__contains__, _ORDER)),
        ("spec.updateStrategy", _stateful_update),
        ("spec.persistentVolumeClaimRetentionPolicy.whenDeleted", one_of("Retain", "Delete")),
        ("spec.persistentVolumeClaimRetentionPolicy.whenScaled", one_of("Retain", "Delete")), *claims,
        *counts("spec.replicas", "spec.minReadySeconds", "spec.ordinals.start"), *name,
        ("spec", _selects("statefulset")), ("spec", _endless("StatefulSet")),
    )  # fmt: skip


_ORDER = "must be 'OrderedReady' or 'Parallel'"
NEW_STATEFUL_SET = _stateful_set(
    below("spec.volumeClaimTemplates[].spec", CLAIM_SPEC), (("spec.serviceName", dns_label),)
)
KINDS: dict[str, Rows] = {
    "daemonsets.apps": (
        ("spec", _daemon_selects), ("spec", _endless("DaemonSet")), ("spec.minReadySeconds", natural),
        ("spec.updateStrategy", _daemon_update), ("spec.revisionHistoryLimit", natural),
    ),
    "deployments.apps": (
        ("spec.replicas", natural), ("spec", _selects("deployment")), ("spec", _endless("ReplicaSet")),
        ("spec.strategy", _strategy), *counts("spec.minReadySeconds", "spec.revisionHistoryLimit"),
        ("spec", _progress),
    ),
    "replicasets.apps": (
        *counts("spec.replicas", "spec.minReadySeconds"), ("spec", _selects("deployment")),
        ("spec", _endless("ReplicaSet")),
    ),
    "replicationcontrollers": (
        ("spec.minReadySeconds", natural), ("spec", _controls),
        ("spec", _endless("ReplicationController")),
    ),
    "statefulsets.apps": _stateful_set(),
}  # fmt: skip
