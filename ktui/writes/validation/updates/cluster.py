"""Update rules of ConfigMaps, Secrets, nodes, role bindings, and other kinds with one or two rules."""

from __future__ import annotations

from ktui.kube.fielderrors import FieldError, forbidden
from ktui.writes.validation.updates.field_rules import IMMUTABLE, Obj, at, bad, same, spec_of, unchanged

_SET = "field is immutable when `immutable` is set"


def config_map(old: Obj, new: Obj) -> list[FieldError]:
    return _sealed(old, new, ("data", "binaryData"))


def secret(old: Obj, new: Obj) -> list[FieldError]:
    return unchanged(old.get("type"), new.get("type"), "type") + _sealed(old, new, ("data",))


def _sealed(old: Obj, new: Obj, members: tuple[str, ...]) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    changed = [] if new.get("immutable") else ["immutable"]
    changed += [name for name in members if not same(old.get(name), new.get(name))]
    return [forbidden(name, _SET) for name in changed]


def node(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    before, after = _pod_ranges(was), _pod_ranges(wanted)
    changed = sum(a != b for a, b in zip(before, after, strict=True)) if len(before) == len(after) else 1
    errors = [_only_set("podCIDRs", "podCIDR")] * (changed if before else 0)
    if was.get("providerID") and was["providerID"] != wanted.get("providerID"):
        errors.append(_only_set("providerID", "providerID"))
    if (was.get("externalID") or "") != (wanted.get("externalID") or ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _pod_ranges(spec: Obj) -> list[str]:
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def _only_set(field: str, name: str) -> FieldError:
    return forbidden(f"spec.{field}", f'node updates may not change {name} except from "" to valid')


def role_binding(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = old.get("roleRef") or {}, new.get("roleRef") or {}
    names = ("apiGroup", "kind", "name")
    if all((was.get(name) or "") == (wanted.get(name) or "") for name in names):
        return []
    # The internal type has no JSON names.
    shown = {name[0].upper() + name[1:]: wanted.get(name) or "" for name in ("kind", "name")}
    return [bad("roleRef", {"APIGroup": wanted.get("apiGroup") or "", **shown}, "cannot change roleRef")]


def priority_class(old: Obj, new: Obj) -> list[FieldError]:
    errors = []
    if (old.get("value") or 0) != (new.get("value") or 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    policy = new.get("preemptionPolicy")
    return errors + unchanged(old.get("preemptionPolicy"), policy, "preemptionPolicy")


def quota(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = at(old, "spec.scopes") or [], at(new, "spec.scopes") or []
    return [] if set(was) == set(wanted) else [bad("spec.scopes", wanted or None, IMMUTABLE)]
