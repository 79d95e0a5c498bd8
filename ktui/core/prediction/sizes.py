"""Number and bytes of a cluster's objects by resource: from a file, a running server, or telemetry.

`estimate` predicts from them what one request costs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

import msgspec

from ktui.contract.etcd_documents import PrefixChild, PrefixPage
from ktui.contract.events.base import Count
from ktui.core.ranking.remedy import Burden
from ktui.core.state import State
from ktui.documents.limits import DocumentError, decode_json
from ktui.kube.resources import finds_namespaces
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.request import ReadRequest
from ktui.kube.versions import Behaviour


class SizesError(ValueError):
    """A sizes file that cannot be used; the message says why."""


class ResourceSize(msgspec.Struct, frozen=True):
    """Number of objects of one resource, and their total bytes as stored in etcd."""

    count: Count
    bytes: Count

    @property
    def average(self) -> float:
        return self.bytes / self.count if self.count else 0.0


_LIKE = '{"pods": {"count": 2000, "bytes": 28000000}}'
Sizes = Mapping[str, ResourceSize]


def parse_sizes(text: bytes) -> dict[str, ResourceSize]:
    """`{"pods": {"count": 100000, "bytes": 1400000000}, …}` by resource id. Raises SizesError."""
    try:
        return decode_json(text, dict[str, ResourceSize])
    except DocumentError as error:
        raise SizesError(f"is not JSON like {_LIKE}: {error}") from None


def sizes_of(children: Iterable[PrefixChild]) -> dict[str, ResourceSize]:
    """Return the sizes by resource id; prefixes of the same resource are added up."""
    found: dict[str, ResourceSize] = {}
    for child in children:
        if child.resource:
            before = found.get(child.resource, ResourceSize(0, 0))
            found[child.resource] = ResourceSize(before.count + child.count, before.bytes + child.bytes)
    return found


ReadPrefixes = Callable[[str | None], Awaitable[PrefixPage]]
"""Reads the children of a prefix from a running server; None: of the server's own prefix (`/registry/`)."""


async def sizes_in_etcd(read: ReadPrefixes) -> dict[str, ResourceSize]:
    """Return the sizes of all resources in a server's etcd. Raises what `read` raises."""
    found: list[PrefixChild] = []
    for child in (await read(None)).children:
        if child.resource or child.leaf or not child.prefix.endswith("/"):
            found.append(child)
        else:  # a group of prefixes: `services/`, custom resources
            found += (await read(child.prefix)).children
    return sizes_of(found)


def size_in(state: State, resource_id: str) -> ResourceSize | None:
    """Return a resource's size, from its cache, else from the keys counted in etcd; None if unknown."""
    row = state.caches.get(resource_id)
    if row is not None and row.live:
        return ResourceSize(row.cache.objects, row.cache.bytes)
    for prefix in state.prefixes.values():
        if prefix.resource == resource_id:
            return ResourceSize(prefix.count, prefix.bytes)
    return None


ONE = ResourceSize(1, 0)


def estimate(
    request: ReadRequest, plan: Plan, behaviour: Behaviour, resource: str, sizes: Sizes
) -> Burden | None:
    """Estimate, not measure, the cost of one request; of a WATCH only its start. None if the size is unknown.

    Bytes are those of stored objects. Namespaces and nodes are assumed to be equally full.
    """
    size = sizes.get(resource)
    if size is None:
        return None
    if plan.error is not None:
        return Burden(0.0, 0.0)
    if request.verb == "get":
        return _read(plan, size.average)
    # The bytes of the objects under the key prefix that is read.
    narrowed = bool(request.scope(behaviour).namespace)
    scope = size.bytes / (max(1, sizes.get("namespaces", ONE).count) if narrowed else 1)
    if request.verb == "watch":
        return _read(plan, scope if plan.initial_events else 0.0)
    if request.scope(behaviour).single:
        return _read(plan, size.average)
    if plan.source is Source.ETCD:
        read = sum(_range(op, request, behaviour, scope, size.average) for op in plan.unstreamed_ops)
        return Burden(read, read)
    # From the cache: narrowed by an index or the namespace.
    if request.required_node:
        return Burden(0.0, size.bytes / max(1, sizes.get("nodes", ONE).count))
    if not finds_namespaces(behaviour.minor, pods=request.of_pods):
        scope = float(size.bytes)
    if plan.limit_honoured and not request.scope(behaviour).selective:
        scope = min(scope, request.options.limit * size.average)
    return Burden(0.0, scope)


def _read(plan: Plan, size: float) -> Burden:
    return Burden(size if plan.source is Source.ETCD else 0.0, size)


_PAGES = ("range_page", "range_at_rev")
_KEYS = ("get_key", "get_key_at_rev")


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
