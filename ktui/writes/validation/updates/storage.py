"""Update rules of claims, volumes and their classes."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation.internal_types import internal, internal_diff
from ktui.writes.validation.selectors import selector_shown
from ktui.writes.validation.updates.field_rules import at, same, spec_of, unchanged

_CLAIM = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound"
    " claims"
)
_ATTRIBUTES = "spec.volumeAttributesClassName"
# Fields of a volume's spec other than its source.
VOLUME_FIELDS = frozenset({
    "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName", "volumeMode",
})  # fmt: skip
# Deprecated labels of nodes → their present names.
_GA_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}


def claim(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    munged = _munged_claim(was, wanted, bound=at(new, "status.phase") == "Bound")
    errors: list[FieldError] = []
    if any(not same(was.get(name), munged.get(name)) for name in was.keys() | munged.keys()):
        changes = internal_diff("core.v1.PersistentVolumeClaimSpec", was, munged)
        errors.append(forbidden("spec", f"{_CLAIM}\n{changes}"))
    before, after = (amount(at(spec, "resources.requests.storage")) for spec in (was, wanted))
    if after < before and after <= amount(at(old, "status.capacity.storage")):
        errors.append(
            forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
        )
    errors += unchanged(was.get("volumeMode"), wanted.get("volumeMode"), "volumeMode")
    name, other = was.get("volumeAttributesClassName"), wanted.get("volumeAttributesClassName")
    if name is not None and not other:
        to = "nil" if other is None else "an empty string"
        errors.append(forbidden(_ATTRIBUTES, f"update from non-nil value to {to} is forbidden"))
    return errors


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


def volume(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    source, other = _source(was), _source(wanted)
    if "csi" in source and "csi" in other and "controllerExpandSecretRef" not in source["csi"]:
        csi = {k: v for k, v in other["csi"].items() if k != "controllerExpandSecretRef"}
        other = {**other, "csi": csi}
    errors: list[FieldError] = []
    if source != other:
        changes = internal_diff("core.v1.PersistentVolumeSource", source, other)
        why = f"spec.persistentvolumesource is immutable after creation\n{changes}"
        errors.append(forbidden("spec.persistentvolumesource", why))
    errors += unchanged(was.get("volumeMode"), wanted.get("volumeMode"), "volumeMode")
    affinity = was.get("nodeAffinity")
    if affinity is not None and _required(affinity) != _required(wanted.get("nodeAffinity")):
        why = "field is immutable, except for updating from beta label to GA"
        shown = internal(wanted.get("nodeAffinity"), "core.v1.VolumeNodeAffinity")
        errors.append(invalid("nodeAffinity", shown, why))
    if was.get("volumeAttributesClassName") is not None and wanted.get("volumeAttributesClassName") is None:
        errors.append(forbidden(_ATTRIBUTES, "update from non-nil value to nil is forbidden"))
    return errors


def _source(spec: Obj) -> Obj:
    return {name: value for name, value in spec.items() if name not in VOLUME_FIELDS}


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


def topology(old: Obj, new: Obj) -> list[FieldError]:
    """The nodes of a CSIStorageCapacity never change."""
    selector = new.get("nodeTopology")
    return unchanged(old.get("nodeTopology"), selector, "nodeTopology", selector_shown(selector))


def attach_required(old: Obj, new: Obj) -> list[FieldError]:
    """Upstream's message has a wrong name for the field."""
    was, wanted = at(old, "spec.attachRequired"), at(new, "spec.attachRequired")
    return unchanged(was, wanted, "spec.attachedRequired")
