"""The update rules by kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation import definitions
from ktui.writes.validation.internal_types import internal, internal_diff
from ktui.writes.validation.selectors import selector_shown
from ktui.writes.validation.updates import pods, services
from ktui.writes.validation.updates.field_rules import (
    IMMUTABLE,
    Rule,
    all_of,
    at,
    differs,
    fixed,
    kept,
    same,
    spec_of,
    unchanged,
    without,
)
from ktui.writes.validation.values.checks import table_of
from ktui.writes.validation.values.cluster import cidr_errors
from ktui.writes.validation.values.events import changed_event
from ktui.writes.validation.values.nodes import taint_errors
from ktui.writes.validation.values.rights import RBAC

_TAINTS, _CIDRS = table_of(("", taint_errors)), table_of(("", cidr_errors))
_SET = "field is immutable when `immutable` is set"


def _sealed(*members: str) -> Rule:
    """Return a rule by which an immutable object keeps these members, and stays immutable."""

    def rule(old: Obj, new: Obj) -> list[FieldError]:
        changed = [] if new.get("immutable") else ["immutable"]
        changed += [name for name in members if not same(old.get(name), new.get(name))]
        return [forbidden(name, _SET) for name in changed] if old.get("immutable") else []

    return rule


def node(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    before, after = _pod_ranges(was), _pod_ranges(wanted)
    changed = sum(a != b for a, b in zip(before, after, strict=True)) if len(before) == len(after) else 1
    yield from [_only_set("podCIDRs", "podCIDR")] * (changed if before else 0)
    if was.get("providerID") and was["providerID"] != wanted.get("providerID"):
        yield _only_set("providerID", "providerID")
    # Upstream's rules for an update validate the taints again.
    yield from _TAINTS.errors(new)
    if (was.get("externalID") or "") != (wanted.get("externalID") or ""):
        yield forbidden("spec.externalID", "may not be updated")


def _pod_ranges(spec: Obj) -> list[str]:
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def _only_set(field: str, name: str) -> FieldError:
    return forbidden(f"spec.{field}", f'node updates may not change {name} except from "" to valid')


def role_binding(old: Obj, new: Obj) -> list[FieldError]:
    refs = (one.get("roleRef") or {} for one in (old, new))
    filled = ({**ref, "apiGroup": ref.get("apiGroup") or RBAC} for ref in refs)  # its default
    was, shown = (internal(ref, "rbac.v1.RoleRef") for ref in filled)
    return [] if was == shown else [invalid("roleRef", shown, "cannot change roleRef")]


def _priority(old: Obj, new: Obj) -> list[FieldError]:
    same_value = (old.get("value") or 0) == (new.get("value") or 0)
    return [] if same_value else [forbidden("value", "may not be changed in an update.")]


def quota(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = at(old, "spec.scopes") or [], at(new, "spec.scopes") or []
    return [] if set(was) == set(wanted) else [invalid("spec.scopes", wanted or None, IMMUTABLE)]


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
_SELECTOR = fixed("spec.selector", show=selector_shown)


def stateful_set(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    rest = (was.keys() | wanted.keys()) - set(_STATEFUL_SET_FIELDS)
    same_rest = all(same(_bare(was.get(name)), _bare(wanted.get(name))) for name in rest)
    return [] if same_rest else [forbidden("spec", _STATEFUL_SET)]


def job(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    yield from _completions(was, wanted)
    yield from _SELECTOR(old, new)
    free = bool(was.get("suspend")) and not (old.get("status") or {}).get("active")
    if not same(_template(was, free), _template(wanted, free)):
        kind, path = ("PodSpec", "spec.template.spec") if free else ("PodTemplateSpec", "spec.template")
        yield invalid(path, internal(at(new, path), f"core.v1.{kind}"), IMMUTABLE)


def _bare(value: Any) -> Any:
    """Return claim templates without the fields that decoding defaults."""
    if not isinstance(value, list):
        return value
    return [
        {**without(item, "apiVersion", "kind"), "status": {"phase": "Pending", **(item.get("status") or {})}}
        if isinstance(item, dict) else item
        for item in value
    ]  # fmt: skip


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


_CLAIM = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound"
    " claims"
)
_ATTRIBUTES = "spec.volumeAttributesClassName"
# Fields of a volume's spec other than its source.
_VOLUME_FIELDS = (
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
)  # fmt: skip
# Deprecated labels of nodes → their present names.
_GA_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def claim(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    munged = _munged_claim(was, wanted, bound=at(new, "status.phase") == "Bound")
    if differs("core.v1.PersistentVolumeClaimSpec", was, munged):
        changes = internal_diff("core.v1.PersistentVolumeClaimSpec", was, munged)
        yield forbidden("spec", f"{_CLAIM}\n{changes}")
    before, after = (amount(at(spec, "resources.requests.storage")) for spec in (was, wanted))
    if after < before and after <= amount(at(old, "status.capacity.storage")):
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    yield from unchanged(was.get("volumeMode"), wanted.get("volumeMode"), "volumeMode")
    name, other = was.get("volumeAttributesClassName"), wanted.get("volumeAttributesClassName")
    if name is not None and not other:
        to = "nil" if other is None else "an empty string"
        yield forbidden(_ATTRIBUTES, f"update from non-nil value to {to} is forbidden")


def _munged_claim(was: Obj, wanted: Obj, bound: bool) -> Obj:
    """Return the new spec with the old values of the fields that may change."""
    munged = dict(wanted)
    if not was.get("volumeName"):
        munged.pop("volumeName", None)  # set once, by the controller that binds the claim
    if was.get("storageClassName") is None:
        munged.pop("storageClassName", None)  # set manually, or by a new default class
    if not bound:
        return munged
    if requests := at(wanted, "resources.requests"):
        storage = at(was, "resources.requests.storage")
        munged["resources"] = {**wanted["resources"], "requests": {**requests, "storage": storage}}
    if "volumeAttributesClassName" in munged:
        munged["volumeAttributesClassName"] = was.get("volumeAttributesClassName")
    return munged


def volume(old: Obj, new: Obj) -> Iterator[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    source, other = without(was, *_VOLUME_FIELDS), without(wanted, *_VOLUME_FIELDS)
    if "csi" in source and "csi" in other and "controllerExpandSecretRef" not in source["csi"]:
        other["csi"] = without(other["csi"], "controllerExpandSecretRef")
    if source != other:
        changes = internal_diff("core.v1.PersistentVolumeSource", source, other)
        why = f"spec.persistentvolumesource is immutable after creation\n{changes}"
        yield forbidden("spec.persistentvolumesource", why)
    yield from unchanged(was.get("volumeMode"), wanted.get("volumeMode"), "volumeMode")
    affinity = was.get("nodeAffinity")
    if affinity is not None and _required(affinity) != _required(wanted.get("nodeAffinity")):
        why = "field is immutable, except for updating from beta label to GA"
        shown = internal(wanted.get("nodeAffinity"), "core.v1.VolumeNodeAffinity")
        yield invalid("nodeAffinity", shown, why)
    if was.get("volumeAttributesClassName") is not None and wanted.get("volumeAttributesClassName") is None:
        yield forbidden(_ATTRIBUTES, "update from non-nil value to nil is forbidden")


def _required(affinity: Any) -> Any:
    """Return the terms of a volume's required node affinity, with the present names of labels."""
    terms = at(affinity or {}, "required.nodeSelectorTerms")
    if not terms:
        return terms
    return [
        {
            member: [{**r, "key": _GA_LABELS.get(r.get("key", ""), r.get("key"))} for r in requirements or []]
            for member, requirements in term.items()
        }
        for term in terms
    ]


def attach_required(old: Obj, new: Obj) -> list[FieldError]:
    """Upstream's message has a wrong name for the field."""
    was, wanted = at(old, "spec.attachRequired"), at(new, "spec.attachRequired")
    return unchanged(was, wanted, "spec.attachedRequired")


def csi_node(old: Obj, new: Obj) -> Iterator[FieldError]:
    """A driver that stays may change what it can allocate."""
    drivers = {driver.get("name"): driver for driver in at(old, "spec.drivers") or []}
    for driver in at(new, "spec.drivers") or []:
        was, wanted = without(drivers.get(driver.get("name")), "allocatable"), without(driver, "allocatable")
        if was and was != wanted:
            yield invalid("spec.drivers", internal(wanted, "storage.v1.CSINodeDriver"), IMMUTABLE)


def _topology(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = old.get("nodeTopology"), new.get("nodeTopology")
    return [] if was == wanted else [invalid("nodeTopology", selector_shown(wanted), IMMUTABLE)]


RULES: dict[str, Rule] = {
    "clusterrolebindings.rbac.authorization.k8s.io": role_binding,
    "configmaps": _sealed("data", "binaryData"),
    "controllerrevisions.apps": fixed("data"),
    "csidrivers.storage.k8s.io": all_of(attach_required, fixed("spec.volumeLifecycleModes")),
    "csinodes.storage.k8s.io": csi_node,
    "csistoragecapacities.storage.k8s.io": all_of(_topology, fixed("storageClassName")),
    "customresourcedefinitions.apiextensions.k8s.io": definitions.definition_change_errors,
    "daemonsets.apps": _SELECTOR,
    "deployments.apps": _SELECTOR,
    "endpointslices.discovery.k8s.io": fixed("addressType"),
    "events.events.k8s.io": changed_event,
    "ingressclasses.networking.k8s.io": fixed("spec.controller", texts=("spec.controller",)),
    "ipaddresses.networking.k8s.io": fixed("spec.parentRef", show="networking.v1.ParentReference"),
    "jobs.batch": all_of(
        job,
        fixed("spec.completionMode"),
        fixed("spec.podFailurePolicy", show="batch.v1.PodFailurePolicy"),
        fixed("spec.backoffLimitPerIndex", "spec.managedBy"),
        fixed("spec.successPolicy", show="batch.v1.SuccessPolicy"),
    ),
    "nodes": node,
    "persistentvolumeclaims": claim,
    "persistentvolumes": volume,
    "pods": pods.pod,
    "priorityclasses.scheduling.k8s.io": all_of(_priority, fixed("preemptionPolicy")),
    "replicasets.apps": _SELECTOR,
    "resourcequotas": quota,
    "rolebindings.rbac.authorization.k8s.io": role_binding,
    "resourceclaims.resource.k8s.io": fixed("spec", show="resource.v1.ResourceClaimSpec"),
    "resourceclaimtemplates.resource.k8s.io": fixed("spec", show="resource.v1.ResourceClaimTemplateSpec"),
    "resourceslices.resource.k8s.io": fixed(
        "spec.pool.name", "spec.driver", "spec.nodeName", texts=("spec.pool.name", "spec.driver")
    ),
    "runtimeclasses.node.k8s.io": fixed("handler"),
    "secrets": all_of(fixed("type"), _sealed("data")),
    "servicecidrs.networking.k8s.io": _ranges,
    "services": services.service,
    "statefulsets.apps": stateful_set,
    "storageclasses.storage.k8s.io": fixed(
        "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode", texts=("provisioner",)
    ),
    "volumeattachments.storage.k8s.io": fixed("spec", show="storage.v1.VolumeAttachmentSpec"),
    "volumeattributesclasses.storage.k8s.io": kept("driverName", "parameters"),
}
"""Rules by resource id. Subresources have none: they change other parts, or nothing."""


def update_errors(resource: str, old: Obj, new: Obj) -> list[FieldError]:
    """Return every cause, in upstream's order; both objects must have their defaults."""
    return list(RULES[resource](old, new)) if resource in RULES else []
