"""Cluster IPs: one IPAddress object for each, which etcd's transactions keep unique.

As kube-apiserver does since 1.33 (MultiCIDRServiceAllocator); older versions keep a bitmap in one key.
"""

from __future__ import annotations

import ipaddress
import random
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.storage.requests import StoreListRequest
from ktui.writes.bootstrap.creation import create_own

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

Obj = dict[str, Any]

TRIES = 8  # random addresses to try before the range is searched from its beginning


class Unavailable(Exception):
    """An address or port cannot be allocated; the message is upstream's."""


@dataclass(frozen=True)
class ServiceRange:
    """The network of a ServiceCIDR: `10.0.0.0/24`."""

    cidr: str

    @cached_property
    def _network(self) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
        return ipaddress.ip_network(self.cidr)

    @property
    def family(self) -> str:
        return f"IPv{self._network.version}"

    @property
    def first(self) -> str:
        """The address of the Service `kubernetes`."""
        return str(self._network[1])

    @property
    def size(self) -> int:
        """Number of addresses to allocate: without the network's own and IPv4's broadcast address."""
        return self._network.num_addresses - (2 if self._network.version == 4 else 1)

    @property
    def reserved(self) -> int:
        """Size of the lower part of the range, which is used only when the rest is in use."""
        return 0 if self.size < 16 else min(max(16, self.size // 16), 256)

    def at(self, offset: int) -> str:
        """Return the address at an offset from 0."""
        return str(self._network[offset + 1])

    def check(self, address: str) -> None:
        """Raise Unavailable if `address` is not in the range."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            raise Unavailable("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)") from None
        if found not in self._network or not 0 <= int(found) - int(self._network[1]) < self.size:
            raise Unavailable(
                f"the provided IP ({address}) is not in the valid range. "
                f"The range of valid IPs is {self.cidr}"
            )


def address_object(address: str, namespace: str, service: str) -> Obj:
    """Return the IPAddress that reserves a cluster IP for a service."""
    labels = {
        "ipaddress.kubernetes.io/ip-family": "IPv6" if ":" in address else "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {"name": address, "labels": labels},
        "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": service}},
    }


def _resource() -> Resource:
    found = BUILTIN.find("networking.k8s.io", "v1", "ipaddresses")
    assert found is not None
    return found


class Addresses:
    """Cluster IPs of one range. Every method may raise StatusError."""

    def __init__(self, registry: Registry, services: ServiceRange) -> None:
        self._registry = registry
        self._store = registry.for_resource(_resource()).store
        self.range = services

    async def take(self, address: str, namespace: str, service: str) -> None:
        """Reserve a certain address; raise Unavailable if it is in use or not in the range."""
        self.range.check(address)
        if not await create_own(self._registry, address_object(address, namespace, service)):
            raise Unavailable("provided IP is already allocated")

    async def check(self, address: str) -> None:
        """Check an address as `take` does, without reserving it."""
        self.range.check(address)
        if await self._used(address):
            raise Unavailable("provided IP is already allocated")

    async def draw(self, namespace: str, service: str, *, dry_run: bool = False) -> str:
        """Reserve any address, first in the upper part of the range; raise Unavailable if all are in use."""
        size, reserved = self.range.size, self.range.reserved
        candidates = [random.randrange(reserved, size) for _ in range(TRIES)]
        for offset in candidates:
            if await self._try(self.range.at(offset), namespace, service, dry_run):
                return self.range.at(offset)
        used = {obj.name for obj in (await self._store.list(StoreListRequest())).objects}
        for offset in (*range(reserved, min(size, reserved + len(used) + TRIES)), *range(reserved)):
            address = self.range.at(offset)
            if address not in used and await self._try(address, namespace, service, dry_run):
                return address
        raise Unavailable("range is full")

    async def free(self, address: str) -> None:
        """Release an address, if it is reserved."""
        try:
            await self._store.delete(None, address)
        except StatusError as error:
            if error.code != 404:
                raise

    async def _try(self, address: str, namespace: str, service: str, dry_run: bool) -> bool:
        if dry_run:
            return not await self._used(address)
        return await create_own(self._registry, address_object(address, namespace, service))

    async def _used(self, address: str) -> bool:
        found, _ = await self._store.get(None, address)
        return found is not None
