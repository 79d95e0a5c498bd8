"""How much a cluster holds of each resource: numbers from a running server or from a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec


class SizesError(ValueError):
    """A file of sizes that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Size:
    """Objects of one resource, and the bytes of them all as etcd stores them."""

    count: int
    bytes: int

    @property
    def average(self) -> float:
        return self.bytes / self.count if self.count else 0.0


_LIKE = '{"pods": {"count": 2000, "bytes": 28000000}}'
Sizes = Mapping[str, Size]


class _Entry(msgspec.Struct):
    count: int
    bytes: int


class Child(msgspec.Struct):
    """A row of `GET /ktui/v1/etcd/prefixes`."""

    prefix: str
    resource: str
    count: int
    bytes: int
    leaf: bool = True


class Listing(msgspec.Struct):
    children: list[Child]


def parse_sizes(text: bytes) -> dict[str, Size]:
    """`{"pods": {"count": 100000, "bytes": 1400000000}, …}` by resource id. Raises SizesError."""
    try:
        entries = msgspec.json.decode(text, type=dict[str, _Entry])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SizesError(f"is no JSON like {_LIKE}: {error}") from None
    if any(entry.count < 0 or entry.bytes < 0 for entry in entries.values()):
        raise SizesError("holds a negative number")
    return {resource: Size(entry.count, entry.bytes) for resource, entry in entries.items()}


def sizes_of(children: Iterable[Child]) -> dict[str, Size]:
    """Sizes of the prefixes that hold one resource each; two prefixes of one resource are added up."""
    found: dict[str, Size] = {}
    for child in children:
        if child.resource:
            before = found.get(child.resource, Size(0, 0))
            found[child.resource] = Size(before.count + child.count, before.bytes + child.bytes)
    return found


Get = Callable[[str], Awaitable[Any]]
"""Asks a running server for the JSON of a path."""


async def ask_sizes(get: Get) -> dict[str, Size]:
    """Sizes of everything that a ktui server's etcd holds. Raises SizesError for any other answer."""
    found = []
    for child in await _children(get, ""):
        if child.resource or child.leaf or not child.prefix.endswith("/"):
            found.append(child)
        else:  # a group of prefixes: `services/`, custom resources
            found += await _children(get, f"?prefix={quote(child.prefix)}")
    return sizes_of(found)


async def _children(get: Get, query: str) -> list[Child]:
    try:
        return msgspec.convert(await get(f"/ktui/v1/etcd/prefixes{query}"), Listing).children
    except msgspec.ValidationError as error:
        raise SizesError(f"is no ktui server: {error}") from None
