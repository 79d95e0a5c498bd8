"""Update rules of pods: only a few fields of the spec may change."""

from __future__ import annotations

from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, required
from ktui.kube.json_trees import hashed
from ktui.writes.validation.updates.differences import differences
from ktui.writes.validation.updates.field_rules import Obj, bad, same, spec_of
from ktui.writes.validation.updates.scheduling import gate_errors, narrowing_errors

MAX_INT32 = 2**31 - 1
_DEADLINE = "spec.activeDeadlineSeconds"
_OTHER_FIELDS = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod(old: Obj, new: Obj) -> list[FieldError]:
    was, wanted = spec_of(old), spec_of(new)
    errors = _deadline_alone(wanted) + _padded_images(wanted)
    for name in ("containers", "initContainers"):
        found, stop = _containers(was.get(name) or [], wanted.get(name) or [], f"spec.{name}")
        errors += found
        if stop:
            return errors
    found, stop = _deadline(was.get("activeDeadlineSeconds"), wanted.get("activeDeadlineSeconds"))
    errors += found
    if stop:
        return errors
    errors += _tolerations(was.get("tolerations") or [], wanted.get("tolerations") or [])
    errors += gate_errors(was, wanted)
    munged = _munged(was, wanted)
    if was.get("schedulingGates"):
        errors += narrowing_errors(was, munged)
    before = {name: value for name, value in was.items() if name not in _ALIASES}
    if any(not same(before.get(name), munged.get(name)) for name in before.keys() | munged.keys()):
        errors.append(forbidden("spec", f"{_OTHER_FIELDS}\n{differences(before, munged, 'spec')}"))
    return errors


def _padded_images(spec: Obj) -> list[FieldError]:
    """Return errors for images with spaces; upstream reports each twice, for a pod and for its update."""
    return [
        error
        for name in ("containers", "initContainers")
        for index, container in enumerate(spec.get(name) or [])
        for error in _padded(container.get("image") or "", f"spec.{name}[{index}].image")
    ]


def _padded(image: str, field: str) -> list[FieldError]:
    return (
        [bad(field, image, "must not have leading or trailing whitespace")] if image != image.strip() else []
    )


def _containers(old: list[Obj], new: list[Obj], field: str) -> tuple[list[FieldError], bool]:
    if len(old) != len(new):
        return [forbidden(field, "pod updates may not add or remove containers")], True
    errors: list[FieldError] = []
    for index, container in enumerate(new):
        image = container.get("image") or ""
        errors += [] if image else [required(f"{field}[{index}].image")]
        errors += _padded(image, f"{field}[{index}].image")
    return errors, False


def _deadline_alone(spec: Obj) -> list[FieldError]:
    """Return the errors by the rule for a new pod."""
    seconds = spec.get("activeDeadlineSeconds")
    if seconds is None or 1 <= seconds <= MAX_INT32:
        return []
    return [bad(_DEADLINE, seconds, _between(1))]


def _deadline(old: int | None, new: int | None) -> tuple[list[FieldError], bool]:
    """The deadline can be set once, and shortened."""
    if new is None:
        why = "must not update from a positive integer to nil value"
        return [] if old is None else [bad(_DEADLINE, None, why)], False
    if not 0 <= new <= MAX_INT32:
        return [bad(_DEADLINE, new, _between(0))], True
    if old is not None and old < new:
        return [bad(_DEADLINE, new, "must be less than or equal to previous value")], True
    return [], False


def _between(least: int) -> str:
    return f"must be between {least} and {MAX_INT32}, inclusive"


def _tolerations(old: list[Obj], new: list[Obj]) -> list[FieldError]:
    """Existing tolerations must stay; only their tolerationSeconds may change."""
    kept = {hashed(_lasting(toleration)) for toleration in new}
    if all(hashed(_lasting(toleration)) in kept for toleration in old):
        return []
    why = "existing toleration can not be modified except its tolerationSeconds"
    return [forbidden("spec.tolerations", why)]


def _lasting(toleration: Obj) -> Obj:
    return {name: value for name, value in toleration.items() if value and name != "tolerationSeconds"}


# Deprecated names of fields that the internal type does not have.
_ALIASES = ("serviceAccount",)
_JUDGED = ("activeDeadlineSeconds", "schedulingGates", "tolerations")


def _munged(old: Obj, new: Obj) -> Obj:
    """Return the new spec with the old values of all fields that are validated separately."""
    munged = {name: value for name, value in new.items() if name not in (*_ALIASES, *_JUDGED)}
    munged.update({name: old[name] for name in _JUDGED if name in old})
    for name in ("containers", "initContainers"):
        if name in new:
            pairs = zip(old.get(name) or [], new[name] or [], strict=True)
            munged[name] = [_with_image(now, before.get("image")) for before, now in pairs]
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and munged.get(
        "terminationGracePeriodSeconds"
    ) == 1:
        munged["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    return munged


def _with_image(container: Obj, image: Any) -> Obj:
    return {**container, "image": image} if image else container
