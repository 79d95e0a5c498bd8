"""Documents of `/ktui/v1/caches`. resourceVersions are strings, as in Kubernetes objects."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ktui.contract.events.base import Count, Milliseconds

ResourceVersion = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,19}$")]


class CachedObject(msgspec.Struct, frozen=True):
    """One object in a cache, without its content; `bytes` is its stored size."""

    namespace: str = ""
    name: str = ""
    rv: ResourceVersion = "0"
    bytes: Count = 0

    @property
    def revision(self) -> int:
        return int(self.rv)


class ObjectPage(msgspec.Struct, frozen=True):
    """A page of a cache's objects in key order; `total` is the number of objects that match."""

    rv: ResourceVersion
    total: Count
    objects: list[CachedObject]

    @property
    def revision(self) -> int:
        """The cache's resourceVersion as a number."""
        return int(self.rv)


class CachedEvent(msgspec.Struct, frozen=True):
    """One entry of the event buffer: `type` is ADDED, MODIFIED or DELETED."""

    rv: ResourceVersion = "0"
    type: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def revision(self) -> int:
        return int(self.rv)


class EventPage(msgspec.Struct, frozen=True):
    """Entries of the event buffer, newest first."""

    events: list[CachedEvent]


class CacheDigest(msgspec.Struct, frozen=True):
    """FNV-1 (64 bit, hexadecimal) over `namespace/name/resourceVersion` of the objects in key order."""

    digest: str
    objects: Count


class EtcdDigest(CacheDigest, frozen=True):
    """The digest over the objects in etcd, with the cost of reading them."""

    rpcs: Count
    bytes: Count


class ConsistencyCheck(msgspec.Struct, frozen=True):
    """A cache compared with etcd at the resourceVersion `rv`; `ms` is the time of the whole check."""

    rv: ResourceVersion
    consistent: bool
    cache: CacheDigest
    etcd: EtcdDigest
    ms: Milliseconds
    difference: str = ""  # the first object in key order that differs
