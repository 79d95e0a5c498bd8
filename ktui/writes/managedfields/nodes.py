"""The type of a place in an object for field ownership: a map, a keyed list, a set, or atomic."""

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
    """A place in the tree of an object, by its type."""

    typed: bool  # equal values in Python are equal
    atomic: bool  # an atomic object

    def member(self, name: str) -> Node: ...

    def item(self) -> Node:
        """Of a list."""
        ...

    def keys(self, value: list[Any]) -> Keys:
        """Key of a list's items: member names; () for a set (items are their keys); None: atomic."""
        ...

    def key_default(self, key: str) -> Any:
        """The default for a key that an item lacks."""
        ...


class BuiltinNode:
    """By the field's name, which is unambiguous for nearly all lists of the built-in types."""

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
    """By x-kubernetes-list-type, -list-map-keys and -map-type of a custom resource's schema.

    `schema` None: unknown; maps are granular there, lists are atomic.
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
    """The whole object."""
    if resource.custom:
        return SchemaNode(resource.schemas.get(resource.version), root=True)
    return BuiltinNode(resource.kind)
