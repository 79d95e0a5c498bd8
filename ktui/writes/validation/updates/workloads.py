"""Update rules of workloads: selectors are immutable, as are most fields of stateful sets and jobs."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden
from ktui.writes.validation.selectors import selector_shown
from ktui.writes.validation.updates.field_rules import Obj, bad, same, spec_of, unchanged

_STATEFUL_SET_FIELDS = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")


def workload(old: Obj, new: Obj) -> list[FieldError]:
    """The rules of Deployments, ReplicaSets and DaemonSets."""
    return _selector(old, new)


def stateful_set(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    rest = (was.keys() | wanted.keys()) - set(_STATEFUL_SET_FIELDS)
    same_rest = all(same(_bare(was.get(name)), _bare(wanted.get(name))) for name in rest)
    return [] if same_rest else [forbidden("spec", _STATEFUL_SET)]


def job(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    errors = _completions(was, wanted) + _selector(old, new)
    free = bool(was.get("suspend")) and not (old.get("status") or {}).get("active")
    if not same(_template(was, free), _template(wanted, free)):
        errors.append(bad("spec.template", wanted.get("template"), "field is immutable"))
    names = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
    for name in names:
        errors += unchanged(was.get(name), wanted.get(name), f"spec.{name}")
    return errors


def _selector(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old).get("selector"), spec_of(new).get("selector")
    return unchanged(was, wanted, "spec.selector", selector_shown(wanted))


def _bare(value: Any) -> Any:
    """Return claim templates without the fields that decoding defaults."""
    if not isinstance(value, list):
        return value
    return [
        {name: v for name, v in item.items() if name not in ("apiVersion", "kind", "status")}
        if isinstance(item, dict)
        else item
        for item in value
    ]


def _completions(was: Obj, wanted: Obj) -> list[FieldError]:
    """The completions of an indexed job must follow its parallelism."""
    old, new = was.get("completions"), wanted.get("completions")
    if wanted.get("completionMode") != "Indexed":
        return unchanged(old, new, "spec.completions")
    if old == new or new is None or new == wanted.get("parallelism"):
        return []
    return [bad("spec.completions", new, "can only be modified in tandem with spec.parallelism")]


def _template(spec: Obj, free: bool) -> Any:
    """Return the part of a job's template to compare; `free`: the job is suspended and has no pods.

    Its scheduling (MutableSchedulingDirectivesForSuspendedJobs) and resources
    (MutablePodResourcesForSuspendedJobs) may then change as well; both gates are on in 1.36.
    """
    template = spec.get("template") or {}
    if not free:
        return template
    pod = {name: value for name, value in (template.get("spec") or {}).items() if name not in _DIRECTIVES}
    affinity = {
        name: value for name, value in (pod.pop("affinity", None) or {}).items() if name != "nodeAffinity"
    }
    for name in ("containers", "initContainers"):
        pod[name] = [{k: v for k, v in c.items() if k != "resources"} for c in pod.get(name) or []]
    metadata = {
        name: value
        for name, value in (template.get("metadata") or {}).items()
        if name not in ("labels", "annotations")
    }
    return {"metadata": metadata, "spec": {**pod, "affinity": affinity}}
