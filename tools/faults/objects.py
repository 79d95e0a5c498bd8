"""The objects that clients write. Each write puts a unique mark into its object, to identify it later."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import count
from typing import Any

RESOURCES = ("configmaps", "pods")
NAMESPACES = ("a", "b")
COLOURS = ("red", "blue", "green")
NODES = ("n1", "n2", "n3")
NAMES = tuple(f"o{number}" for number in range(12))
COUNTER, PATCHED = "counter", "patched"  # objects of namespace SHARED, each with special writers
SHARED = "shared"
SENTINEL = "sentinel"  # the last write of a schedule, in namespace LAST
LAST = "last"

_MARK = re.compile(rb"m#(\d+)#([a-z]+)#([a-z0-9]*)#")


@dataclass(frozen=True, slots=True)
class Mark:
    """The number of a write, and the object's values for selectors."""

    id: int
    colour: str
    node: str = ""

    def __str__(self) -> str:
        return f"m#{self.id}#{self.colour}#{self.node}#"


def mark_in(value: bytes) -> Mark | None:
    """Return the mark in a stored value, JSON or protobuf; None without one."""
    found = _MARK.search(value)
    return Mark(int(found[1]), found[2].decode(), found[3].decode()) if found else None


class Marks:
    """Makes marks with unique numbers."""

    def __init__(self, rnd: random.Random) -> None:
        self._rnd = rnd
        self._numbers = count(1)

    def next(self, resource: str) -> Mark:
        node = self._rnd.choice(NODES) if resource == "pods" else ""
        return Mark(next(self._numbers), self._rnd.choice(COLOURS), node)


def key_of(resource: str, namespace: str, name: str) -> str:
    return f"/registry/{resource}/{namespace}/{name}"


def body(
    resource: str, namespace: str, name: str, mark: Mark, data: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return a ConfigMap, or a Pod as it is stored."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "labels": {"colour": mark.colour},
        "annotations": {"mark": str(mark)},
    }
    if resource == "configmaps":
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": data or {"x": "y" * 40},
        }
    metadata |= {"uid": f"uid-{mark.id}", "creationTimestamp": "2024-01-01T00:00:00Z"}
    spec = {"nodeName": mark.node, "containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Running"},
    }


@dataclass(frozen=True, slots=True)
class Selection:
    """What a LIST or WATCH requests; an empty field selects everything."""

    resource: str
    namespace: str = ""
    colours: tuple[str, ...] = ()
    node: str = ""
    name: str = ""

    def matches(self, key: str, mark: Mark | None) -> bool:
        if mark is None:
            return False
        _, _, resource, namespace, name = key.split("/")
        return (
            resource == self.resource
            and self.namespace in ("", namespace)
            and (not self.colours or mark.colour in self.colours)
            and self.node in ("", mark.node)
            and self.name in ("", name)
        )

    @property
    def path(self) -> str:
        within = f"namespaces/{self.namespace}/" if self.namespace else ""
        return f"/api/v1/{within}{self.resource}"

    @property
    def query(self) -> list[str]:
        """Query parameters of the selectors."""
        parts = []
        if len(self.colours) == 1:
            parts.append(f"labelSelector=colour%3D{self.colours[0]}")
        elif self.colours:
            parts.append(f"labelSelector=colour+in+({','.join(self.colours)})")
        fields = [f"spec.nodeName%3D{self.node}"] if self.node else []
        fields += [f"metadata.name%3D{self.name}"] if self.name else []
        return [*parts, f"fieldSelector={','.join(fields)}"] if fields else parts


def some_selection(rnd: random.Random) -> Selection:
    resource = rnd.choice(RESOURCES)
    namespace = rnd.choice(NAMESPACES) if rnd.random() < 0.35 else ""
    drawn = rnd.random()
    colours = tuple(rnd.sample(COLOURS, 1 if drawn < 0.2 else 2)) if drawn < 0.4 else ()
    node = rnd.choice(NODES) if resource == "pods" and rnd.random() < 0.3 else ""
    name = rnd.choice(NAMES) if not node and rnd.random() < 0.08 else ""
    return Selection(resource, namespace, colours, node, name)
