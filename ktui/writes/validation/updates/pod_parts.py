"""Update rules of two parts of pods: the resources of containers, and containers for debugging."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.admission.mutation import qos_class
from ktui.writes.validation.internal_types import internal_diff
from ktui.writes.validation.updates.field_rules import at, differs, spec_of

RUNNING = ("containers", "initContainers")
_MIRROR = "kubernetes.io/config.mirror"
_MUTABLE = ("cpu", "memory")
_KINDS = ("requests", "limits")
_ONLY = "only cpu and memory resources"
Amounts = dict[str, Decimal]


def debugging_errors(old: Obj, new: Obj, values: list[FieldError]) -> list[FieldError]:
    """Containers for debugging can be added, but never changed or removed; `values` are wrong values."""
    if _is_static(old):
        return [forbidden("[]", "static pods do not support ephemeral containers")]
    wanted = {each.get("name"): each for each in spec_of(new).get("ephemeralContainers") or []}
    errors = list(values)
    for was in spec_of(old).get("ephemeralContainers") or []:
        now, which = wanted.get(was.get("name")), f'existing ephemeral containers "{was.get("name")}" may not'
        if now is None:
            errors.append(forbidden("spec.ephemeralContainers", f"{which} be removed\n"))
        elif differs("core.v1.EphemeralContainer", was, now):
            changes = internal_diff("core.v1.EphemeralContainer", was, now)
            errors.append(forbidden("spec.ephemeralContainers", f"{which} be changed\n{changes}"))
    return errors


def resize_errors(old: Obj, new: Obj, values: list[FieldError]) -> list[FieldError]:
    """CPU and memory can change, but not the quality of service (upstream: ValidatePodResize)."""
    if _is_static(old):
        return [forbidden("[]", "static pods cannot be resized")]
    if at(old, "spec.os.name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    was, now = spec_of(old), spec_of(new)
    errors = [*values, *_of_pod(old, new), *_of_level(was, now)]
    if at(old, "status.nodeAllocatableResourceClaimStatuses"):
        errors.append(forbidden("spec", "pods with node allocatable resource claims cannot be resized"))
    if others := [*_other_containers(was, now)]:
        return errors + others
    errors += [*_removed(was, now), *_of_containers(was, now), *_of_init_containers(was, now)]
    if (
        not errors
        and (was.get("resources") is None) != (now.get("resources") is None)
        and not _levels(was, now)
    ):
        errors.append(forbidden("spec", f"{_ONLY} are mutable"))
    return errors


def _is_static(pod: Obj) -> bool:
    return _MIRROR in ((pod.get("metadata") or {}).get("annotations") or {})


def _of_pod(old: Obj, new: Obj) -> Iterator[FieldError]:
    if (at(old, "status.qosClass") or qos_class(spec_of(old))) != qos_class(spec_of(new)):
        shown = at(new, "status.qosClass") or ""
        yield invalid("spec", shown, "Pod QOS Class may not change as a result of resizing")
    statuses = at(old, "status.containerStatuses") or []
    running = next((each for each in statuses if at(each, "state.running") is not None), None)
    if running is not None and running.get("resources") is None:
        yield forbidden("spec", "Pod running on node without support for resize")


def _levels(was: Obj, now: Obj) -> bool:
    """Whether one of the two has resources of the whole pod."""
    return any((spec.get("resources") or {}).get(kind) for spec in (was, now) for kind in _KINDS)


def _of_level(was: Obj, now: Obj) -> Iterator[FieldError]:
    before, after = was.get("resources"), now.get("resources")
    if not _levels(was, now):
        return
    if before is not None and after is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    one: Obj = before or {}
    other: Obj = after or {}
    for kind in _KINDS if before is not None else ():
        if _lacks(other.get(kind), one.get(kind)):
            yield forbidden(f"spec.resources.{kind}", f"pod-level resource {kind} cannot be removed")
    if _fixed(one) != _fixed(other) or (one.get("claims") or []) != (other.get("claims") or []):
        yield forbidden("spec", f"{_ONLY} are mutable at pod-level")


def _other_containers(was: Obj, now: Obj) -> Iterator[FieldError]:
    """Upstream: validatePodResizeContainerOrdering."""
    for member in RUNNING:
        before, after = was.get(member) or [], now.get(member) or []
        if len(before) != len(after):
            yield forbidden(f"spec.{member}", f"{member} may not be added or removed on resize")
            continue
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            if one.get("name") != other.get("name"):
                why = f"{member} may not be renamed or reordered on resize"
                yield forbidden(f"spec.{member}[{index}].name", why)


def _pairs(was: Obj, now: Obj, member: str) -> Iterator[tuple[str, Obj, Obj]]:
    for index, pair in enumerate(zip(was.get(member) or [], now.get(member) or [], strict=True)):
        yield f"spec.{member}[{index}]", *pair


def _removed(was: Obj, now: Obj) -> Iterator[FieldError]:
    for member in reversed(RUNNING):
        for where, before, after in _pairs(was, now, member):
            one, other = (each.get("resources") or {} for each in (before, after))
            for kind in _KINDS:
                if _lacks(other.get(kind), one.get(kind)):
                    yield forbidden(f"{where}.resources.{kind}", f"resource {kind} cannot be removed")


def _of_containers(was: Obj, now: Obj) -> Iterator[FieldError]:
    for _, before, after in _pairs(was, now, "containers"):
        if _changes_more(before, after):
            yield forbidden("spec", f"{_ONLY} are mutable")


def _of_init_containers(was: Obj, now: Obj) -> Iterator[FieldError]:
    for where, before, after in _pairs(was, now, "initContainers"):
        if _changes_more(before, after):
            yield forbidden(where, f"{_ONLY} for init or sidecar containers are mutable")
        if after.get("restartPolicy") == "Always" or _whole(before) == _whole(after):
            continue
        for policy in after.get("resizePolicy") or []:
            if policy.get("restartPolicy") == "RestartContainer":
                why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                yield forbidden(where, why)


def _changes_more(before: Obj, after: Obj) -> bool:
    """Whether more than CPU and memory differs; upstream compares without the claims of the new container."""
    one, other = (each.get("resources") or {} for each in (before, after))
    policies = [each.get("resizePolicy") or [] for each in (before, after)]
    return bool(one.get("claims")) or policies[0] != policies[1] or _fixed(one) != _fixed(other)


def _whole(container: Obj) -> tuple[object, ...]:
    resources = container.get("resources") or {}
    claims, policies = resources.get("claims") or [], container.get("resizePolicy") or []
    return (*(_amounts(resources.get(kind)) for kind in _KINDS), claims, policies)


def _fixed(resources: Obj) -> list[Amounts]:
    """Return the amounts that cannot change."""
    found = (_amounts(resources.get(kind)) for kind in _KINDS)
    return [{name: value for name, value in each.items() if name not in _MUTABLE} for each in found]


def _amounts(quantities: Obj | None) -> Amounts:
    return {name: amount(str(value)) for name, value in (quantities or {}).items()}


def _lacks(now: Obj | None, was: Obj | None) -> bool:
    return bool((was or {}).keys() - (now or {}).keys())


PART_RULES: dict[str, Callable[[Obj, Obj, list[FieldError]], list[FieldError]]] = {
    "ephemeralcontainers": debugging_errors,
    "resize": resize_errors,
}
"""By subresource: the errors of a pod's new state, those of its values among them."""
