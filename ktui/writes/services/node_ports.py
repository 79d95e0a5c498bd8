"""Node ports: a bitmap in one key, as in kube-apiserver."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterable
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


Bits = Callable[[int, range], int]
"""(bits in use, range of ports) → the new bits in use."""


class NodePorts:
    """Node ports of the cluster. Every method may raise StatusError."""

    def __init__(self, registry: Registry) -> None:
        self._store = registry.uncached_store(RANGE)

    async def take(self, port: int) -> None:
        """Reserve a certain port; raise Unavailable if it is in use or not a node port."""

        def reserve(used: int, ports: range) -> int:
            if port not in ports:
                valid = f"The range of valid ports is {ports[0]}-{ports[-1]}"
                raise Unavailable(f"provided port is not in the valid range. {valid}")
            bit = 1 << ports.index(port)
            if used & bit:
                raise Unavailable("provided port is already allocated")
            return used | bit

        await self._change(reserve)

    async def draw(self) -> int:
        """Reserve any port; raise Unavailable if all are in use."""
        drawn = 0

        def reserve(used: int, ports: range) -> int:
            nonlocal drawn
            drawn = _unused(used, ports)
            return used | 1 << ports.index(drawn)

        await self._change(reserve)
        return drawn

    async def peek(self) -> int:
        """Return any free port, for a dry run; raise Unavailable if all are in use."""
        found, _ = await self._store.get(None, NAME)
        return _unused(*_state(json.loads(found.full_json()) if found else {}))

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


def _unused(used: int, ports: range) -> int:
    """Return a random free port, first from the upper part of the range."""
    reserved = min(max(16, len(ports) // 32), 128)
    for part in (range(reserved, len(ports)), range(reserved)):
        if free := [at for at in part if not used >> at & 1]:
            return ports[random.choice(free)]
    raise Unavailable("range is full")


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
