"""Rules of workloads, in upstream's order (apps/validation, and core's for ReplicationControllers)."""

from __future__ import annotations

import re
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
    one_of,
)
from ktui.writes.validation.values.int_or_string import not_above_all, whole_or_percent
from ktui.writes.validation.values.pods import template_errors, template_metadata_errors
from ktui.writes.validation.values.volumes import CLAIM_SPEC


def _none(value: Any) -> bool:
    """Whether a number or percentage is zero, as a text is that is neither."""
    if isinstance(value, str):
        number = re.fullmatch("([0-9]+)%|([+-]?[0-9]+)", value, re.ASCII)
        return number is None or not int(number[1] or number[2])
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
        yield not_supported("", _shown_type(strategy, _ROLLS), ("Recreate", "RollingUpdate"))


def _shown(rolling: Obj | None, of: dict[str, Any]) -> Any:
    if rolling is None:
        return None
    return {name[0].upper() + name[1:]: rolling.get(name, missing) for name, missing in of.items()}


# The members of how a workload rolls, with their values where they are missing.
_ROLLS: dict[str, Any] = {"maxUnavailable": 0, "maxSurge": 0}
_ROLLS_IN_ORDER: dict[str, Any] = {"partition": 0, "maxUnavailable": None}


def _shown_type(strategy: Obj, of: dict[str, Any]) -> Any:
    """Return a strategy as upstream shows it: all members of its internal type."""
    return {"Type": strategy.get("type") or "", "RollingUpdate": _shown(strategy.get("rollingUpdate"), of)}


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
        yield not_supported("", _shown_type(strategy, _ROLLS), ("RollingUpdate", "OnDelete"))


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
            shown = _shown(rolling, _ROLLS_IN_ORDER)
            yield invalid(".rollingUpdate", shown, "only allowed for updateStrategy 'RollingUpdate'")
    elif kind != "RollingUpdate":
        yield invalid("", _shown_type(strategy, _ROLLS_IN_ORDER), "must be 'RollingUpdate' or 'OnDelete'")
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
        if kind == "statefulset":
            yield from _template_again(spec)
        else:
            yield from _template(spec)
            yield from _endless("ReplicaSet")(spec)

    return check


def _template(spec: Obj) -> Iterator[FieldError]:
    template, claims = spec.get("template") or {}, spec.get("volumeClaimTemplates") or []
    names = dict.fromkeys(str((claim.get("metadata") or {}).get("name") or "") for claim in claims)
    if names:
        template = {**template, "spec": _with_claims(template.get("spec") or {}, list(names))}
    yield from inside(".template", template_errors(template))


def _template_again(spec: Obj) -> Iterator[FieldError]:
    """Check a StatefulSet's template, and its metadata twice, as upstream does."""
    yield from _template(spec)
    yield from inside(".template", template_metadata_errors(spec.get("template") or {}))


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
        ("spec.replicas", natural), ("spec", _selects("deployment")), ("spec.strategy", _strategy),
        *counts("spec.minReadySeconds", "spec.revisionHistoryLimit"), ("spec", _progress),
    ),
    "replicasets.apps": (
        *counts("spec.replicas", "spec.minReadySeconds"), ("spec", _selects("deployment")),
    ),
    "replicationcontrollers": (
        ("spec.minReadySeconds", natural), ("spec", _controls),
        ("spec", _endless("ReplicationController")),
    ),
    "statefulsets.apps": _stateful_set(),
}  # fmt: skip
