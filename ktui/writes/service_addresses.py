"""Cluster IPs: one IPAddress object for each, which etcd's transactions keep unique.

As kube-apiserver does since 1.33 (MultiCIDRServiceAllocator); older versions keep a bitmap in one key.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.lister import StoreListRequest
from ktui.writes.own_objects import create_own, update_or_create

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
    def base(self) -> str:
        """The network's own address, which the answer to a dry run shows instead of a free one."""
        return str(self._network[0])

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
        return str(self._network[offset + 1])

    def check(self, address: str) -> None:
        """Raise Unavailable if `address` is not in the range."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            raise Unavailable("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)") from None
        if found not in self._network or not 0 <= int(found) - int(self._network[1]) < self.size:
            valid = f"The range of valid IPs is {self.cidr}"
            raise Unavailable(f"the provided IP ({address}) is not in the valid range. {valid}")


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


class Addresses:
    """Cluster IPs of one range. Every method may raise StatusError."""

    def __init__(self, registry: Registry, services: ServiceRange) -> None:
        self._registry = registry
        self._store = registry.for_resource(builtin("networking.k8s.io", "ipaddresses")).store
        self.range = services

    async def take(self, address: str, namespace: str, service: str) -> None:
        """Reserve a certain address; raise Unavailable if it is in use or not in the range."""
        self.range.check(address)
        if not await create_own(self._registry, address_object(address, namespace, service)):
            raise Unavailable("provided IP is already allocated")

    async def draw(self, namespace: str, service: str) -> str:
        """Reserve any address, first in the upper part of the range; raise Unavailable if all are in use."""
        size, reserved = self.range.size, self.range.reserved
        candidates = [random.randrange(reserved, size) for _ in range(TRIES)]
        for offset in candidates:
            if await self._try(self.range.at(offset), namespace, service):
                return self.range.at(offset)
        used = {obj.name for obj in (await self._store.list(StoreListRequest())).objects}
        for offset in (*range(reserved, min(size, reserved + len(used) + TRIES)), *range(reserved)):
            address = self.range.at(offset)
            if address not in used and await self._try(address, namespace, service):
                return address
        raise Unavailable("range is full")

    async def free(self, address: str) -> None:
        with ignoring_not_found():
            await self._store.delete(None, address)

    async def _try(self, address: str, namespace: str, service: str) -> bool:
        return await create_own(self._registry, address_object(address, namespace, service))


DEFAULT = "30000-32767"
NAME = "servicenodeports"
RANGE = Resource(
    "", "v1", "rangeallocations", "RangeAllocation", "rangeallocation", namespaced=False,
    versions=("v1",), prefix="ranges/", storage_version="v1",
)  # fmt: skip


class PortUnavailable(Unavailable):
    """A port cannot be allocated; `at` is its place among the wanted ones."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


# A dry run draws the numbers after it, or after its own largest port (upstream: PortAllocationOperation).
_NO_PORT = 32768
Bits = Callable[[int, range], int]
"""(bits in use, range of ports) → the new bits in use."""


class NodePorts:
    """Node ports of the cluster. Every method may raise StatusError."""

    def __init__(self, registry: Registry) -> None:
        self._store = registry.uncached_store(RANGE)

    async def allot(self, wanted: Sequence[int | None], *, dry_run: bool = False) -> list[int]:
        """Reserve all these ports in one Txn, or none (None: any free port); raise PortUnavailable."""
        found: list[int] = []

        def reserve(used: int, ports: range) -> int:
            found[:], after = _chosen(wanted, used, ports)
            return after

        if dry_run:
            stored, _ = await self._store.get(None, NAME)
            used, ports = _state(json.loads(stored.full_json()) if stored else {})
            largest = _NO_PORT
            for at, port in enumerate(wanted):  # upstream looks only for ports that are taken
                if port is not None and port in ports:
                    if used >> ports.index(port) & 1:
                        raise PortUnavailable("provided port is already allocated", at)
                    used |= 1 << ports.index(port)
                found.append(largest + 1 if port is None else port)
                largest = max(largest, found[-1]) if at else found[-1]
        else:
            await self._change(reserve)
        return found

    async def free(self, released: Iterable[int]) -> None:
        """Release ports; those that are not reserved are ignored."""
        gone = set(released)

        def clear(used: int, ports: range) -> int:
            return used & ~sum(1 << ports.index(port) for port in gone if port in ports)

        if gone:
            await self._change(clear)

    async def _change(self, change: Bits) -> None:
        def changed(allocation: Obj) -> Obj:
            used, ports = _state(allocation)
            used = change(used, ports)
            data = base64.b64encode(used.to_bytes((used.bit_length() + 7) // 8, "big")).decode()
            head = {"apiVersion": "v1", "kind": "RangeAllocation", "metadata": {"name": NAME}}
            return {**head, "range": f"{ports[0]}-{ports[-1]}", "data": data}

        await update_or_create(
            lambda: self._store.update(None, NAME, changed), lambda: self._store.create(changed({}))
        )


def _chosen(wanted: Sequence[int | None], used: int, ports: range) -> tuple[list[int], int]:
    """Return the ports, and the bits in use with them: first the wanted ones, then free ones for the rest."""
    for at, port in enumerate(wanted):
        if port is None:
            continue
        if port not in ports:
            valid = f"The range of valid ports is {ports[0]}-{ports[-1]}"
            raise PortUnavailable(f"provided port is not in the valid range. {valid}", at)
        if used >> ports.index(port) & 1:
            raise PortUnavailable("provided port is already allocated", at)
        used |= 1 << ports.index(port)
    drawn = _drawn(used, ports)
    found = []
    for at, port in enumerate(wanted):
        if port is None and (port := next(drawn, None)) is None:
            raise PortUnavailable("range is full", at)
        found.append(port)
    return found, used | sum({1 << ports.index(port) for port in found})


def _drawn(used: int, ports: range) -> Iterator[int]:
    """Yield the free ports in random order, first those of the upper part of the range."""
    reserved = min(max(16, len(ports) // 32), 128)
    free = [at for at in range(len(ports)) if not used >> at & 1]
    for part in ([at for at in free if at >= reserved], [at for at in free if at < reserved]):
        random.shuffle(part)
        yield from (ports[at] for at in part)


def _state(allocation: Obj) -> tuple[int, range]:
    """Return the bits in use and the range of ports, which another server may have chosen."""
    first, _, last = str(allocation.get("range") or DEFAULT).partition("-")
    used = int.from_bytes(base64.b64decode(allocation.get("data") or ""), "big")
    return used, range(int(first), int(last) + 1)
