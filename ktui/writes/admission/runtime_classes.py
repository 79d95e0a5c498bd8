"""Admission RuntimeClass: a pod gets the overhead, the node selector and the tolerations of its class."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.kube.resources import builtin
from ktui.kube.status import StatusError, bare_error, forbidden
from ktui.writes import stored_objects

_OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


async def runtime_class_of(server: Server, pod: Obj) -> Obj | None:
    """Return the class of a pod, None for one without; raise StatusError 403 if it does not exist.

    Of a name that cannot be a part of a path it is a 500 without a reason, as upstream.
    """
    name = (pod.get("spec") or {}).get("runtimeClassName")
    if name is None:
        return None
    if why := stored_objects.unfit_name(name):
        raise bare_error(why)
    found = await stored_objects.find(server, builtin("node.k8s.io", "runtimeclasses"), "", name)
    if found is None:
        raise _rejected(pod, f'pod rejected: RuntimeClass "{name}" not found')
    return found


def admit_runtime_class(pod: Obj, of: Obj | None) -> None:
    """Set what the class of a pod demands, in place; raise StatusError 403 on a pod that differs."""
    spec, overhead = pod.setdefault("spec", {}), ((of or {}).get("overhead") or {}).get("podFixed")
    if overhead:
        if spec.get("overhead") and not _equal(spec["overhead"], overhead):
            raise _rejected(pod, _OTHER)
        spec["overhead"] = dict(overhead)
    scheduling = (of or {}).get("scheduling") or {}
    selector = spec.get("nodeSelector") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            where = f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            why = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; {where}"
            raise _rejected(pod, why)
        spec["nodeSelector"] = selector = {**selector, key: value}
    if more := scheduling.get("tolerations"):
        spec["tolerations"] = merged_tolerations([*(spec.get("tolerations") or []), *more])


def check_overhead(pod: Obj, of: Obj | None) -> None:
    """Raise StatusError 403 for an overhead that no class defines."""
    if (pod.get("spec") or {}).get("overhead") and not (of or {}).get("overhead"):
        raise _rejected(pod, _WITHOUT)


def merged_tolerations(tolerations: list[Obj]) -> list[Obj]:
    """Return tolerations without those that others include; of equal ones the first stays."""
    kept: list[Obj] = []
    for index, toleration in enumerate(tolerations):
        after = [other for other in tolerations[index + 1 :] if other != toleration]
        if not any(_includes(other, toleration) for other in (*kept, *after)):
            kept.append(toleration)
    return kept


def _includes(wide: Obj, narrow: Obj) -> bool:
    """Whether one toleration tolerates all that another does (upstream: tolerations.isSuperset)."""
    if wide == narrow:
        return True
    key, effect, operator = wide.get("key") or "", wide.get("effect") or "", wide.get("operator") or "Equal"
    if key != (narrow.get("key") or "") and (key or operator != "Exists"):
        return False
    if effect not in ("", narrow.get("effect") or ""):
        return False
    most, seconds = (each.get("tolerationSeconds") for each in (wide, narrow))
    if effect == "NoExecute" and most is not None and (seconds is None or seconds > most):
        return False
    if operator == "Equal":
        return narrow.get("operator") == "Equal" and (narrow.get("value") or "") == (wide.get("value") or "")
    return bool(operator == "Exists")


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return {name: amount(value) for name, value in one.items()} == {n: amount(v) for n, v in other.items()}


def _rejected(pod: Obj, why: str) -> StatusError:
    return forbidden(builtin("", "pods"), str((pod.get("metadata") or {}).get("name") or ""), why)
