"""The update rules by kind."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.selectors import selector_shown
from ktui.writes.validation.updates import definitions, pods, services, storage
from ktui.writes.validation.updates.field_rules import (
    IMMUTABLE,
    Rule,
    all_of,
    at,
    fixed,
    kept,
    same,
    spec_of,
    unchanged,
    without,
)
from ktui.writes.validation.values.checks import table_of
from ktui.writes.validation.values.cluster import cidr_errors, taint_errors
from ktui.writes.validation.values.events import changed_event

_TAINTS, _CIDRS = table_of(("", taint_errors)), table_of(("", cidr_errors))
_SET = "field is immutable when `immutable` is set"


def _sealed(*members: str) -> Rule:
    """Return a rule by which an immutable object keeps these members, and stays immutable."""

    def rule(old: Obj, new: Obj) -> list[FieldError]:
        changed = [] if new.get("immutable") else ["immutable"]
        changed += [name for name in members if not same(old.get(name), new.get(name))]
        return [forbidden(name, _SET) for name in changed] if old.get("immutable") else []

    return rule


def node(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    before, after = _pod_ranges(was), _pod_ranges(wanted)
    changed = sum(a != b for a, b in zip(before, after, strict=True)) if len(before) == len(after) else 1
    errors = [_only_set("podCIDRs", "podCIDR")] * (changed if before else 0)
    if was.get("providerID") and was["providerID"] != wanted.get("providerID"):
        errors.append(_only_set("providerID", "providerID"))
    # Upstream's rules for an update validate the taints again.
    errors += _TAINTS.errors(new)
    if (was.get("externalID") or "") != (wanted.get("externalID") or ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _pod_ranges(spec: Obj) -> list[str]:
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def _only_set(field: str, name: str) -> FieldError:
    return forbidden(f"spec.{field}", f'node updates may not change {name} except from "" to valid')


def role_binding(old: Obj, new: Obj) -> list[FieldError]:
    was, shown = (internal(one.get("roleRef") or {}, "rbac.v1.RoleRef") for one in (old, new))
    return [] if was == shown else [invalid("roleRef", shown, "cannot change roleRef")]


def _priority(old: Obj, new: Obj) -> list[FieldError]:
    same_value = (old.get("value") or 0) == (new.get("value") or 0)
    return [] if same_value else [forbidden("value", "may not be changed in an update.")]


def quota(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = at(old, "spec.scopes") or [], at(new, "spec.scopes") or []
    return [] if set(was) == set(wanted) else [invalid("spec.scopes", wanted or None, IMMUTABLE)]


def _parent(old: Obj, new: Obj) -> list[FieldError]:
    path = "spec.parentRef"
    if same(at(old, path), at(new, path)):
        return []
    shown = internal(at(new, path), "networking.v1.ParentReference") if at(new, path) else None
    return [invalid(path, shown, IMMUTABLE)]


def _ranges(old: Obj, new: Obj) -> list[FieldError]:
    """A ServiceCIDR keeps its ranges; it may get one of the other family."""
    was, wanted = at(old, "spec.cidrs") or [], at(new, "spec.cidrs") or []
    more = (len(was), len(wanted)) == (1, 2)
    if len(was) != len(wanted) and not more:
        return [invalid("spec.cidrs", at(new, "spec.cidrs"), IMMUTABLE)]
    pairs = enumerate(zip(was, wanted, strict=False))
    errors = [invalid(f"spec.cidrs[{index}]", b, IMMUTABLE) for index, (a, b) in pairs if a != b]
    return errors + (_CIDRS.errors(new) if more else [])


_STATEFUL_SET_FIELDS = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
_STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")
_FIXED_IN_JOBS = ("backoffLimitPerIndex", "managedBy", "successPolicy")


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
        kind, path = ("PodSpec", "spec.template.spec") if free else ("PodTemplateSpec", "spec.template")
        errors.append(invalid(path, internal(at(new, path), f"core.v1.{kind}"), IMMUTABLE))
    errors += unchanged(was.get("completionMode"), wanted.get("completionMode"), "spec.completionMode")
    policy = internal(wanted.get("podFailurePolicy"), "batch.v1.PodFailurePolicy")
    errors += unchanged(
        was.get("podFailurePolicy"), wanted.get("podFailurePolicy"), "spec.podFailurePolicy", policy
    )
    return errors


def _selector(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old).get("selector"), spec_of(new).get("selector")
    return unchanged(was, wanted, "spec.selector", selector_shown(wanted))


def _bare(value: Any) -> Any:
    """Return claim templates without the fields that decoding defaults."""
    if not isinstance(value, list):
        return value
    return [without(i, "apiVersion", "kind", "status") if isinstance(i, dict) else i for i in value]


def _completions(was: Obj, wanted: Obj) -> list[FieldError]:
    """The completions of an indexed job must follow its parallelism."""
    old, new = was.get("completions"), wanted.get("completions")
    if wanted.get("completionMode") != "Indexed":
        return unchanged(old, new, "spec.completions")
    if old == new or new is None or new == wanted.get("parallelism"):
        return []
    return [invalid("spec.completions", new, "can only be modified in tandem with spec.parallelism")]


def _template(spec: Obj, free: bool) -> Any:
    """Return the part of a job's template to compare; `free`: the job is suspended and has no pods.

    Its scheduling (MutableSchedulingDirectivesForSuspendedJobs) and resources
    (MutablePodResourcesForSuspendedJobs) may then change as well; both gates are on in 1.36.
    """
    template = spec.get("template") or {}
    if not free:
        return template
    pod = without(template.get("spec"), *_DIRECTIVES)
    for name in ("containers", "initContainers"):
        pod[name] = [without(container, "resources") for container in pod.get(name) or []]
    pod["affinity"] = without(pod.get("affinity"), "nodeAffinity")
    return {"metadata": without(template.get("metadata"), "labels", "annotations"), "spec": pod}


RULES: dict[str, Rule] = {
    "clusterrolebindings.rbac.authorization.k8s.io": role_binding,
    "configmaps": _sealed("data", "binaryData"),
    "controllerrevisions.apps": fixed("data"),
    "csidrivers.storage.k8s.io": all_of(storage.attach_required, fixed("spec.volumeLifecycleModes")),
    "csistoragecapacities.storage.k8s.io": all_of(storage.topology, fixed("storageClassName")),
    "customresourcedefinitions.apiextensions.k8s.io": definitions.definition_change_errors,
    "daemonsets.apps": _selector,
    "deployments.apps": _selector,
    "endpointslices.discovery.k8s.io": fixed("addressType"),
    "events.events.k8s.io": changed_event,
    "ingressclasses.networking.k8s.io": fixed("spec.controller", texts=("spec.controller",)),
    "ipaddresses.networking.k8s.io": _parent,
    "jobs.batch": all_of(job, fixed(*(f"spec.{name}" for name in _FIXED_IN_JOBS))),
    "nodes": node,
    "persistentvolumeclaims": storage.claim,
    "persistentvolumes": storage.volume,
    "pods": pods.pod,
    "priorityclasses.scheduling.k8s.io": all_of(_priority, fixed("preemptionPolicy")),
    "replicasets.apps": _selector,
    "resourcequotas": quota,
    "rolebindings.rbac.authorization.k8s.io": role_binding,
    "runtimeclasses.node.k8s.io": fixed("handler"),
    "secrets": all_of(fixed("type"), _sealed("data")),
    "servicecidrs.networking.k8s.io": _ranges,
    "services": services.service,
    "statefulsets.apps": stateful_set,
    "storageclasses.storage.k8s.io": fixed(
        "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode", texts=("provisioner",)
    ),
    "volumeattributesclasses.storage.k8s.io": kept("driverName", "parameters"),
}
"""Rules by resource id. Subresources have none: they change other parts, or nothing."""


def update_errors(resource: str, old: Obj, new: Obj) -> list[FieldError]:
    """Return every cause, in upstream's order; both objects must have their defaults."""
    rule = RULES.get(resource)
    return rule(old, new) if rule is not None else []
