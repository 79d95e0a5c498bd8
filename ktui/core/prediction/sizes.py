"""Number and bytes of a cluster's objects by resource: from a file, a running server, or telemetry."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec

from ktui.contract.etcd import PrefixChild, PrefixPage
from ktui.contract.events.base import Count
from ktui.core.state import State
from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json


class SizesError(ValueError):
    """A sizes file that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class ResourceSize:
    """Number of objects of one resource, and their total bytes as stored in etcd."""

    count: int
    bytes: int

    @property
    def average(self) -> float:
        return self.bytes / self.count if self.count else 0.0


_LIKE = '{"pods": {"count": 2000, "bytes": 28000000}}'
Sizes = Mapping[str, ResourceSize]


class _Entry(msgspec.Struct):
    count: Count
    bytes: Count


def parse_sizes(text: bytes) -> dict[str, ResourceSize]:
    """`{"pods": {"count": 100000, "bytes": 1400000000}, …}` by resource id. Raises SizesError."""
    try:
        entries = decode_json(text, dict[str, _Entry])
    except DocumentError as error:
        raise SizesError(f"is not JSON like {_LIKE}: {error}") from None
    return {resource: ResourceSize(entry.count, entry.bytes) for resource, entry in entries.items()}


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
