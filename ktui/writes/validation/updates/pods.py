"""Update rules of pods: only a few fields of the spec may change."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj, hashed
from ktui.writes.validation.internal_types import internal, internal_diff
from ktui.writes.validation.updates.field_rules import differs, same, spec_of, without
from ktui.writes.validation.values.checks import table_of
from ktui.writes.validation.values.scheduling import toleration

_TERM, _AFFINITY = "core.v1.NodeSelectorTerm", "spec.affinity.nodeAffinity"
_TERMS = f"{_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def gate_errors(old: Obj, new: Obj) -> list[FieldError]:
    """Return errors for added gates; gates can only be removed."""
    was = {gate.get("name") for gate in old.get("schedulingGates") or []}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(new.get("schedulingGates") or [])
        if gate.get("name") not in was
    ]


def narrowing_errors(old: Obj, munged: Obj) -> list[FieldError]:
    """The errors of a gated pod's two specs; reset in `munged` the changes that were validated here."""
    selector, labels = old.get("nodeSelector"), munged.get("nodeSelector") or {}
    _put(munged, "nodeSelector", selector)
    errors = []
    if any(labels.get(name) != value for name, value in (selector or {}).items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid("spec.nodeSelector", dict(sorted(labels.items())) or None, why))
    was, wanted = _node_affinity(old), _node_affinity(munged)
    if same(was, wanted):
        return errors
    errors += _node_affinity_errors(was, wanted)
    affinity = {**(munged.get("affinity") or {}), "nodeAffinity": was}
    if was is None:
        del affinity["nodeAffinity"]
    _put(munged, "affinity", affinity if affinity or "affinity" in old else None)
    return errors


def _node_affinity(spec: Obj) -> Any:
    return (spec.get("affinity") or {}).get("nodeAffinity")


def _terms(affinity: Any) -> list[Obj]:
    required = (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return required.get("nodeSelectorTerms") or []


def _node_affinity_errors(was: Any, wanted: Any) -> list[FieldError]:
    """Errors of the required terms, which upstream alone validates; if there were none, any are allowed."""
    old, new = _terms(was), _terms(wanted)
    if not old:
        return []
    if len(old) != len(new):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(_TERMS, [internal(term, _TERM) for term in new] or None, why)]
    why = "only additions are allowed (no mutations or deletions)"
    pairs = enumerate(zip(old, new, strict=True))
    return [invalid(f"{_TERMS}[{i}]", internal(b, _TERM), why) for i, (a, b) in pairs if not _only_adds(a, b)]


def _only_adds(old: Obj, new: Obj) -> bool:
    members = ("matchExpressions", "matchFields")
    was, wanted = ([term.get(name) or [] for name in members] for term in (old, new))
    if not any(was):
        return not any(wanted)
    return all(now[: len(before)] == before for before, now in zip(was, wanted, strict=True))


def _put(spec: Obj, name: str, value: Any) -> None:
    if value is None:
        spec.pop(name, None)
    else:
        spec[name] = value


MAX_INT32 = 2**31 - 1
_DEADLINE = "spec.activeDeadlineSeconds"
_OTHER_FIELDS = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def settled(old: Obj, new: Obj) -> None:
    """Keep the values that the Priority plugin set at the creation, in place."""
    for name in ("priority", "preemptionPolicy"):
        if name in old:
            new.setdefault(name, old[name])


def pod(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    before, seconds = was.get("activeDeadlineSeconds"), wanted.get("activeDeadlineSeconds")
    errors: list[FieldError] = []
    for name in ("containers", "initContainers"):
        containers = wanted.get(name) or []
        if len(was.get(name) or []) != len(containers):
            return [*errors, forbidden(f"spec.{name}", "pod updates may not add or remove containers")]
        for index, container in enumerate(containers):
            image, field = container.get("image") or "", f"spec.{name}[{index}].image"
            errors += [*([] if image else [required(field)]), *_padded(image, field)]
    if fault := _deadline_fault(before, seconds):
        errors.append(invalid(_DEADLINE, seconds, fault))
        if seconds is not None:
            return errors
    errors += _tolerations(was.get("tolerations") or [], wanted.get("tolerations") or [])
    errors += gate_errors(was, wanted)
    munged = _munged(was, wanted)
    if was.get("schedulingGates"):
        errors += narrowing_errors(was, munged)
    old_spec = without(was, _ALIAS)
    if differs("core.v1.PodSpec", old_spec, munged):
        changes = internal_diff("core.v1.PodSpec", old_spec, munged)
        errors.append(forbidden("spec", f"{_OTHER_FIELDS}\n{changes}"))
    return errors


def _padded(image: str, field: str) -> list[FieldError]:
    why = "must not have leading or trailing whitespace"
    return [invalid(field, image, why)] if image != image.strip() else []


def _deadline_fault(old: int | None, new: int | None) -> str:
    """The deadline can be set once, and shortened."""
    if new is None:
        return "" if old is None else "must not update from a positive integer to nil value"
    if not 0 <= new <= MAX_INT32:
        return f"must be between 0 and {MAX_INT32}, inclusive"
    return "must be less than or equal to previous value" if old is not None and old < new else ""


def _tolerations(old: list[Obj], new: list[Obj]) -> list[FieldError]:
    """Existing tolerations must stay, all but their tolerationSeconds; upstream validates all once more."""
    kept = {hashed(_lasting(toleration)) for toleration in new}
    if all(hashed(_lasting(toleration)) in kept for toleration in old):
        return _TOLERATIONS.errors({"spec": {"tolerations": new}})
    why = "existing toleration can not be modified except its tolerationSeconds"
    return [forbidden("spec.tolerations", why)]


def _lasting(toleration: Obj) -> Obj:
    return {name: value for name, value in toleration.items() if value and name != "tolerationSeconds"}


# A deprecated name of a field, which the internal type does not have.
_ALIAS = "serviceAccount"
_TOLERATIONS = table_of(("spec.tolerations[]", toleration))
_JUDGED = ("activeDeadlineSeconds", "schedulingGates", "tolerations")


def _munged(old: Obj, new: Obj) -> Obj:
    """Return the new spec with the old values of all fields that are validated separately."""
    munged = without(new, _ALIAS, *_JUDGED)
    munged.update({name: old[name] for name in _JUDGED if name in old})
    for name in ("containers", "initContainers"):
        if name in new:
            images = [{"image": c["image"]} if c.get("image") else {} for c in old.get(name) or []]
            munged[name] = [{**now, **image} for now, image in zip(new[name] or [], images, strict=True)]
    grace = "terminationGracePeriodSeconds"
    if (old.get(grace) or 0) < 0 and munged.get(grace) == 1:
        munged[grace] = old[grace]
    return munged
