"""Pods with scheduling gates: their node selection can be narrowed until they are scheduled."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden
from ktui.writes.validation.updates.field_rules import Obj, bad, same

_AFFINITY = "spec.affinity.nodeAffinity"
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
    errors = _node_selector(old, munged)
    was, wanted = _node_affinity(old), _node_affinity(munged)
    if same(was, wanted):
        return errors
    errors += _node_affinity_errors(was, wanted)
    affinity = {**(munged.get("affinity") or {}), "nodeAffinity": was}
    if was is None:
        del affinity["nodeAffinity"]
    _put(munged, "affinity", affinity if affinity or "affinity" in old else None)
    return errors


def _node_selector(old: Obj, munged: Obj) -> list[FieldError]:
    was, wanted = old.get("nodeSelector") or {}, munged.get("nodeSelector") or {}
    _put(munged, "nodeSelector", old.get("nodeSelector"))
    if all(wanted.get(name) == value for name, value in was.items()):
        return []
    why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
    return [bad("spec.nodeSelector", dict(sorted(wanted.items())) or None, why)]


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
        return [bad(_TERMS, [term_shown(term) for term in new] or None, why)]
    why = "only additions are allowed (no mutations or deletions)"
    pairs = enumerate(zip(old, new, strict=True))
    return [bad(f"{_TERMS}[{i}]", term_shown(b), why) for i, (a, b) in pairs if not _only_adds(a, b)]


def _only_adds(old: Obj, new: Obj) -> bool:
    members = ("matchExpressions", "matchFields")
    was, wanted = ([term.get(name) or [] for name in members] for term in (old, new))
    if not any(was):
        return not any(wanted)
    return all(now[: len(before)] == before for before, now in zip(was, wanted, strict=True))


def term_shown(term: Obj) -> Obj:
    """Return a NodeSelectorTerm as Go formats its internal type."""
    return {
        shown: [
            {"Key": r.get("key", ""), "Operator": r.get("operator", ""), "Values": r.get("values")}
            for r in term.get(name) or []
        ]
        or None
        for name, shown in (("matchExpressions", "MatchExpressions"), ("matchFields", "MatchFields"))
    }


def _put(spec: Obj, name: str, value: Any) -> None:
    if value is None:
        spec.pop(name, None)
    else:
        spec[name] = value
