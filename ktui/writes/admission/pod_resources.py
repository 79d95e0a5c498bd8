"""The requests and limits of a whole pod (upstream: component-helpers/resource PodRequests and PodLimits)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.json_trees import Obj
from ktui.kube.quantity import added, amount, less

Quantities = dict[str, str]

_POD_LEVEL = ("cpu", "memory")


def containers_of(spec: Obj) -> Iterator[Obj]:
    yield from spec.get("containers") or []
    yield from spec.get("initContainers") or []


def pod_total(spec: Obj, which: str) -> Quantities:
    """Return a pod's total of `which`, "requests" or "limits".

    It is the larger of what the containers need together and of what each init container needs. Sidecars run
    together with all containers that start after them; the pod's own values replace those of its containers.
    """
    total: Quantities = {}
    for container in spec.get("containers") or []:
        _add(total, _of(container, which))
    sidecars: Quantities = {}
    starting: Quantities = {}
    for container in spec.get("initContainers") or []:
        own = _of(container, which)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, own)
            _add(total, own)
            needs = {name: sidecars[name] for name in own}
        else:
            needs = {name: added(sidecars.get(name, "0"), value) for name, value in own.items()}
        # What the sidecars before it need apart from that counts with the sidecars themselves.
        _raise(starting, needs)
    _raise(starting, sidecars)
    _raise(total, starting)
    own = _of(spec, which)
    total |= {name: value for name, value in own.items() if name in _POD_LEVEL or "hugepages-" in name}
    overhead = spec.get("overhead") or {}
    if which == "limits":
        overhead = {name: value for name, value in overhead.items() if name in total}
    return plus(total, overhead)


def plus(one: Quantities, other: Quantities) -> Quantities:
    return one | {name: added(one.get(name, "0"), value) for name, value in other.items()}


def grown(one: Quantities, other: Quantities) -> Quantities:
    """Return what `other` has more of than `one`; nothing of what became less."""
    more = {name: less(value, one.get(name, "0")) for name, value in other.items()}
    return {name: value for name, value in more.items() if amount(value) > 0}


def _add(total: Quantities, more: Quantities) -> None:
    """Add in place: a pod may have thousands of containers, each with other resources."""
    for name, value in more.items():
        total[name] = added(total.get(name, "0"), value)


def _raise(total: Quantities, other: Quantities) -> None:
    """Raise each quantity to that of `other`, in place."""
    for name, value in other.items():
        if name not in total or amount(value) > amount(total[name]):
            total[name] = value


def _of(holder: Obj, which: str) -> Quantities:
    found: Quantities = (holder.get("resources") or {}).get(which) or {}
    return found
