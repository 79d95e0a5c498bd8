"""What an update of a subresource changes in an object: decisions, ephemeral containers, sizes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.writes.admission.mutation import qos_class
from ktui.writes.objectmeta import timestamp
from ktui.writes.validation.updates.field_rules import spec_of
from ktui.writes.validation.values.checks import inside
from ktui.writes.validation.values.pod_containers import ephemeral_containers
from ktui.writes.validation.values.volumes import volumes

DECISIONS = ("Approved", "Denied", "Failed")
RESIZABLE = frozenset({"cpu", "memory"})


def _ephemeral_containers(old: Obj, sent: Obj, new: Obj) -> Iterator[FieldError]:
    """Containers for debugging can be added, but never changed or removed."""
    wanted = spec_of(sent).get("ephemeralContainers") or []
    present = spec_of(old).get("ephemeralContainers") or []
    new["spec"]["ephemeralContainers"] = wanted
    if not wanted:
        del new["spec"]["ephemeralContainers"]
    valid: dict[str, Obj] = {}
    deque(volumes(new["spec"].get("volumes") or [], valid), maxlen=0)
    yield from inside("spec", ephemeral_containers(new["spec"], valid))
    by_name = {c.get("name"): c for c in wanted}
    for container in present:
        name = container.get("name")
        if by_name.get(name) != container:
            done = "changed" if name in by_name else "removed"
            why = f'existing ephemeral containers "{name}" may not be {done}\n'
            yield forbidden("spec.ephemeralContainers", why)


def _sizes(old: Obj, sent: Obj, new: Obj) -> Iterator[FieldError]:
    """CPU and memory of containers can change, but not the quality of service."""
    for member in ("containers", "initContainers"):
        wanted = {c.get("name"): c.get("resources") for c in spec_of(sent).get(member) or []}
        for container in spec_of(new).get(member) or []:
            if container.get("name") in wanted:
                container["resources"] = wanted[container["name"]] or {}
    was, now = qos_class(spec_of(old)), qos_class(spec_of(new))
    if was != now:
        yield invalid("spec", was, "Pod QOS Class may not change as a result of resizing")
    for member in ("containers", "initContainers"):
        pairs = zip(spec_of(old).get(member) or [], spec_of(new).get(member) or [], strict=True)
        for index, (before, after) in enumerate(pairs):
            yield from _size_errors(before, after, f"spec.{member}[{index}].resources")


def _size_errors(before: Obj, after: Obj, path: str) -> Iterator[FieldError]:
    for kind in ("limits", "requests"):
        one, other = ((c.get("resources") or {}).get(kind) or {} for c in (before, after))
        for name in sorted(one.keys() | other.keys()):
            if name not in RESIZABLE and one.get(name) != other.get(name):
                yield forbidden("spec", "only cpu and memory resources are mutable")
            elif name in one and name not in other:
                yield forbidden(f"{path}.{kind}", f"resource {kind} cannot be removed")


def _approval(old: Obj, sent: Obj, new: Obj) -> Iterator[FieldError]:
    """Decisions about a certificate signing request are made once and never withdrawn."""
    status = new["status"] = dict(old.get("status") or {})
    present = {c.get("type"): c for c in status.get("conditions") or []}
    conditions = []
    now = timestamp()
    for index, condition in enumerate((sent.get("status") or {}).get("conditions") or []):
        kind, path = condition.get("type"), f"status.conditions[{index}]"
        if condition.get("status", "True") != "True" and kind in DECISIONS:
            yield invalid(f"{path}.status", condition["status"], 'supported values: "True"')
        before = present.get(kind) or {}
        new_one = {"status": "True", **condition}
        new_one.setdefault("lastUpdateTime", before.get("lastUpdateTime") or now)
        new_one.setdefault("lastTransitionTime", before.get("lastTransitionTime") or now)
        conditions.append(new_one)
    kinds = [c.get("type") for c in conditions]
    for kind in DECISIONS:
        if kind in present and kind not in kinds:
            yield forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"')
    if "Approved" in kinds and "Denied" in kinds:
        at = kinds.index("Denied")
        why = "Approved and Denied conditions are mutually exclusive"
        yield invalid(f"status.conditions[{at}].type", "Denied", why)
    status["conditions"] = conditions


PARTS: dict[str, Callable[[Obj, Obj, Obj], Iterator[FieldError]]] = {
    "approval": _approval,
    "ephemeralcontainers": _ephemeral_containers,
    "resize": _sizes,
}
"""By subresource: put the part of the sent object that it changes into the new one, and yield its errors."""
