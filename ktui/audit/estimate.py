"""What one request probably costs, from the number and size of the objects: an estimate, not measured.

Bytes are those of stored objects. Namespaces and nodes are taken for equally full.
"""

from __future__ import annotations

from typing import NamedTuple

from ktui.audit.sizes import Size, Sizes
from ktui.kube.routing.model import Decision, Route
from ktui.kube.routing.request import ReadRequest
from ktui.kube.versions import Behaviour

_PAGES = ("range_page", "range_at_rev")
_KEYS = ("get_key", "get_key_at_rev")


class Cost(NamedTuple):
    """Bytes read from etcd, and bytes of objects that the apiserver looks at or sends."""

    etcd: float
    touched: float

    @property
    def total(self) -> float:
        """Both: an object from etcd is read and decoded before it is looked at like a cached one."""
        return self.etcd + self.touched


NOTHING = Cost(0.0, 0.0)
ONE = Size(1, 0)


def estimate(
    request: ReadRequest, decision: Decision, behaviour: Behaviour, resource: str, sizes: Sizes
) -> Cost | None:
    """The cost of one such request; None for a resource of unknown size. A WATCH: of its start only."""
    size = sizes.get(resource)
    if size is None:
        return None
    if decision.error is not None:
        return NOTHING
    if request.verb == "get":
        return _read(decision, size.average)
    scope = _scope(request, behaviour, size, sizes)
    if request.verb == "watch":
        return _read(decision, scope if _lists_first(decision) else 0.0)
    if request.narrows_name(behaviour):
        return _read(decision, size.average)
    if decision.route is Route.ETCD:
        read = sum(_range(op, request, behaviour, scope, size.average) for op in decision.etcd_ops)
        return Cost(read, read)
    return Cost(0.0, _from_cache(request, decision, behaviour, size, sizes))


def _read(decision: Decision, size: float) -> Cost:
    return Cost(size if decision.route is Route.ETCD else 0.0, size)


def _from_cache(
    request: ReadRequest, decision: Decision, behaviour: Behaviour, size: Size, sizes: Sizes
) -> float:
    """Bytes of the objects that the cache looks at: kube-apiserver narrows by namespace and by index."""
    info = request.info
    pods = not info.group and info.resource == "pods"
    if pods and request.fields.requires("spec.nodeName"):  # an index since 1.19
        return size.bytes / max(1, sizes.get("nodes", ONE).count)
    # Ordered by key since 1.32; before, everything is looked at, but for an index of pods since 1.30.
    narrows = behaviour.minor >= 32 or (pods and behaviour.minor >= 30)
    scope = _scope(request, behaviour, size, sizes) if narrows else float(size.bytes)
    if decision.limit_honoured and not request.selects(behaviour):
        return min(scope, request.options.limit * size.average)
    return scope


def _range(op: str, request: ReadRequest, behaviour: Behaviour, scope: float, average: float) -> float:
    if op in _KEYS:
        return average
    if op == "range_rest":
        return scope / 2
    limit = request.options.limit
    if op in _PAGES and limit > 0:
        page = min(limit * average, scope)
        # etcd cannot filter: kube-apiserver's own estimate (1.34+) is half of what is stored.
        return max(page, scope / 2) if request.selects(behaviour) else page
    return scope if op == "range_full" or op in _PAGES else 0.0


def _scope(request: ReadRequest, behaviour: Behaviour, size: Size, sizes: Sizes) -> float:
    """Bytes of the objects under the key prefix that is read; all where the namespaces are unknown."""
    if request.info.namespace or request.narrows_namespace(behaviour):
        namespaces = sizes.get("namespaces", ONE).count
        return size.bytes / max(1, namespaces)
    return float(size.bytes)


def _lists_first(decision: Decision) -> bool:
    return any(reason.startswith("w.initial_") or reason == "w.etcd_list" for reason in decision.reasons)
