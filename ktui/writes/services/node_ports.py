"""Node ports: a bitmap in one key, as in kube-apiserver."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.writes.services.addresses import Unavailable

if TYPE_CHECKING:
    from ktui.cacher.registry import Registry

Obj = dict[str, Any]

DEFAULT = "30000-32767"
NAME = "servicenodeports"
RANGE = Resource(
    group="",
    version="v1",
    resource="rangeallocations",
    kind="RangeAllocation",
    singular="rangeallocation",
    namespaced=False,
    versions=("v1",),
    prefix="ranges/",
    storage_version="v1",
)


class PortUnavailable(Unavailable):
    """A port cannot be allocated; `at` is its place among the wanted ones."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


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
            reserve(*_state(json.loads(stored.full_json()) if stored else {}))
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
            return _allocation(change(used, ports), ports)

        while True:
            try:
                await self._store.update(None, NAME, changed)
                return
            except StatusError as missing:
                if missing.code != 404:
                    raise
            try:
                await self._store.create(changed({}))
                return
            except StatusError as taken:
                if taken.reason != "AlreadyExists":
                    raise


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


def _allocation(used: int, ports: range) -> Obj:
    data = used.to_bytes((used.bit_length() + 7) // 8, "big")
    return {
        "apiVersion": "v1",
        "kind": "RangeAllocation",
        "metadata": {"name": NAME},
        "range": f"{ports[0]}-{ports[-1]}",
        "data": base64.b64encode(data).decode(),
    }
