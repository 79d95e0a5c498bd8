"""The estimated cost of one request, from the number and size of the objects. Not measured.

Bytes are those of stored objects. Namespaces and nodes are assumed to be equally full.
"""

from __future__ import annotations

from typing import NamedTuple

from ktui.core.prediction.sizes import ResourceSize, Sizes
from ktui.kube.indexes import finds_namespaces
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.request import ReadRequest
from ktui.kube.versions import Behaviour

_PAGES = ("range_page", "range_at_rev")
_KEYS = ("get_key", "get_key_at_rev")


class EstimatedCost(NamedTuple):
    """Bytes read from etcd, and bytes of the objects that the apiserver tests or sends (`touched`)."""

    etcd: float
    touched: float

    @property
    def cached(self) -> float:
        """Bytes of the objects tested in a watch cache; 0 if they came from etcd."""
        return 0.0 if self.etcd else self.touched

    @property
    def processed(self) -> float:
        """Bytes read from etcd or from memory, each counted once: ktui's measure of a request's cost."""
        return self.etcd + self.cached


NOTHING = EstimatedCost(0.0, 0.0)
ONE = ResourceSize(1, 0)


def estimate(
    request: ReadRequest, plan: Plan, behaviour: Behaviour, resource: str, sizes: Sizes
) -> EstimatedCost | None:
    """Estimate the cost of one request; of a WATCH only its start. None if the size is unknown."""
    size = sizes.get(resource)
    if size is None:
        return None
    if plan.error is not None:
        return NOTHING
    if request.verb == "get":
        return _read(plan, size.average)
    scope = _scope(request, behaviour, size, sizes)
    if request.verb == "watch":
        return _read(plan, scope if plan.initial_events else 0.0)
    if request.scope(behaviour).single:
        return _read(plan, size.average)
    if plan.source is Source.ETCD:
        read = sum(_range(op, request, behaviour, scope, size.average) for op in plan.etcd_ops)
        return EstimatedCost(read, read)
    return EstimatedCost(0.0, _from_cache(request, plan, behaviour, size, sizes))


def _read(plan: Plan, size: float) -> EstimatedCost:
    return EstimatedCost(size if plan.source is Source.ETCD else 0.0, size)


def _from_cache(
    request: ReadRequest, plan: Plan, behaviour: Behaviour, size: ResourceSize, sizes: Sizes
) -> float:
    """Return the bytes of the objects that the cache tests, narrowed by namespace or index."""
    if request.required_node:
        return size.bytes / max(1, sizes.get("nodes", ONE).count)
    narrows = finds_namespaces(behaviour.minor, pods=request.of_pods)
    scope = _scope(request, behaviour, size, sizes) if narrows else float(size.bytes)
    if plan.limit_honoured and not request.scope(behaviour).selective:
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
        return max(page, scope / 2) if request.scope(behaviour).selective else page
    return scope if op == "range_full" or op in _PAGES else 0.0


def _scope(request: ReadRequest, behaviour: Behaviour, size: ResourceSize, sizes: Sizes) -> float:
    """Return the bytes of the objects under the key prefix that is read."""
    if request.scope(behaviour).namespace:
        namespaces = sizes.get("namespaces", ONE).count
        return size.bytes / max(1, namespaces)
    return float(size.bytes)
