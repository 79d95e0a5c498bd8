"""The type of a position in an object for field ownership: a map, a keyed list, a set, or atomic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ktui.kube.resources import Resource
from ktui.kube.structural.schema import Schema, additional, items
from ktui.writes.managedfields.builtin import (
    ATOMIC,
    ATOMIC_ITEMS,
    ATOMIC_PATHS,
    CONTAINER_PORTS,
    KEY_DEFAULTS,
    LIST_KEYS,
    PLAIN_LISTS,
    SERVICE_PORTS,
    SETS,
)

Keys = tuple[str, ...] | None


class Node(Protocol):
    """A position in the tree of an object, with its type."""

    typed: bool  # equal values in Python are equal
    atomic: bool  # an atomic object

    def member(self, name: str) -> Node: ...

    def item(self) -> Node:
        """Return the node of a list's items."""
        ...

    def keys(self, value: list[Any]) -> Keys:
        """Return the key of a list's items: member names; () for a set (items are keys); None: atomic."""
        ...

    def key_default(self, key: str) -> Any:
        """Return the default for a key that an item lacks."""
        ...


class BuiltinNode:
    """A node of a built-in type, by the field's name, which is unambiguous for nearly all lists."""

    __slots__ = ("_kind", "_name", "_path", "atomic")

    typed = True

    def __init__(self, kind: str, path: str = "", name: str = "", *, atomic: bool = False) -> None:
        self._kind, self._path, self._name = kind, path, name
        self.atomic = atomic or name in ATOMIC or (kind, path) in ATOMIC_PATHS

    def member(self, name: str) -> BuiltinNode:
        return BuiltinNode(self._kind, f"{self._path}.{name}" if self._path else name, name)

    def item(self) -> BuiltinNode:
        return BuiltinNode(self._kind, f"{self._path}[]", atomic=self._name in ATOMIC_ITEMS)

    def keys(self, value: list[Any]) -> Keys:
        name = self._name
        if (self._kind, self._path) in PLAIN_LISTS:
            return None
        if name in SETS:
            return ()
        keys = LIST_KEYS.get(name)
        if name == "ports":
            first = value[0] if value and isinstance(value[0], dict) else {}
            keys = CONTAINER_PORTS if "containerPort" in first else SERVICE_PORTS
        if keys is None or not all(isinstance(item, dict) for item in value):
            return None
        return keys

    def key_default(self, key: str) -> Any:
        return KEY_DEFAULTS.get(key)


class SchemaNode:
    """A node by x-kubernetes-list-type, -list-map-keys and -map-type of a custom resource's schema.

    `schema` None: unknown; then maps are granular and lists atomic.
    """

    __slots__ = ("_root", "_schema", "atomic")

    typed = False

    def __init__(self, schema: Schema | None, *, root: bool = False) -> None:
        self._schema: Schema = schema or {}
        self._root = root
        self.atomic = self._schema.get("x-kubernetes-map-type") == "atomic"

    def member(self, name: str) -> Node:
        if self._root and name == "metadata":
            return BuiltinNode("", name, name)
        known = (self._schema.get("properties") or {}).get(name)
        return SchemaNode(additional(self._schema)[1] if known is None else known)

    def item(self) -> SchemaNode:
        return SchemaNode(items(self._schema))

    def keys(self, value: list[Any]) -> Keys:
        match self._schema.get("x-kubernetes-list-type"):
            case "set":
                return ()
            case "map" if all(isinstance(item, dict) for item in value):
                return tuple(self._schema.get("x-kubernetes-list-map-keys") or ())
        return None

    def key_default(self, key: str) -> Any:
        properties: Mapping[str, Any] = (items(self._schema) or {}).get("properties") or {}
        return (properties.get(key) or {}).get("default")


def root_of(resource: Resource) -> Node:
    """Return the node of a whole object."""
    if resource.custom:
        return SchemaNode(resource.schemas.get(resource.version), root=True)
    return BuiltinNode(resource.kind)
