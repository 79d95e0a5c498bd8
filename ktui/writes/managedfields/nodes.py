"""The type of a position in an object for field ownership: a map, a keyed list, a set, or atomic."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeAlias

from ktui.kube.resources import Resource
from ktui.kube.structural.schema import Schema, additional, items
from ktui.wire.schema import META, SchemaField, fields_by_name, is_atomic, message_of, rule_of

Keys = tuple[str, ...] | None
KEY_DEFAULTS = {"protocol": "TCP"}
# Types whose name is left out if it is empty, which upstream marks as its default.
_EMPTY_NAMED = frozenset({"core.v1.LocalObjectReference"})
_ZEROS = {"string": "", "int32": 0, "int64": 0}


def _applicable(keys: Keys, value: list[Any]) -> Keys:
    return None if keys and not all(isinstance(item, dict) for item in value) else keys


class BuiltinNode:
    """A position in the tree of an object of a built-in kind, with its type.

    `message` is a struct's type; `below` is the node of a map's values or of a list's items. Without both,
    nothing is known: then maps are granular and lists atomic. `atomic`: an atomic object. `item_keys` are the
    names of the members that are a list's keys; () for a set, whose items are keys; None: an atomic list.
    """

    __slots__ = ("_below", "_message", "atomic", "item_keys")
    typed = True  # equal values in Python are equal, and null is the same as absent

    def __init__(
        self, message: str = "", *, below: BuiltinNode | None = None, keys: Keys = None, atomic: bool = False
    ) -> None:
        self._message, self._below, self.item_keys = message, below, keys
        self.atomic = atomic

    def member(self, name: str) -> BuiltinNode:
        return _known_field(self._message, name) if self.declares(name) else self._below or UNKNOWN

    def declares(self, name: str) -> bool:
        """Return True for a field of a struct, False for a key of a map."""
        return bool(self._message) and name in fields_by_name(self._message)

    def item(self) -> BuiltinNode:
        """Return the node of a list's items."""
        return self._below or UNKNOWN

    def keys(self, value: list[Any]) -> Keys:
        """Return `item_keys`, but None if some items cannot have them."""
        return _applicable(self.item_keys, value)

    def key_default(self, key: str) -> Any:
        """Return the default for a key that an item lacks: its own, or the zero value if Go writes it."""
        if key in KEY_DEFAULTS or self._below is None or not self._below.declares(key):
            return KEY_DEFAULTS.get(key)
        field = fields_by_name(self._below._message)[key]
        return None if field.has("o") and self._below._message not in _EMPTY_NAMED else _ZEROS.get(field.kind)


UNKNOWN = BuiltinNode()


@cache
def struct_node(message: str) -> BuiltinNode:
    """Return the node of a struct: `core.v1.PodSpec`."""
    return BuiltinNode(message, atomic=is_atomic(message))


@cache
def _known_field(message: str, name: str) -> BuiltinNode:
    field = fields_by_name(message)[name]
    rule = rule_of(message, name)
    if not field.repeated:
        return _value_node(field, rule.relationship)
    below = _value_node(field)
    return BuiltinNode(below=below, keys=rule.keys, atomic=rule.relationship == "atomic")


def _value_node(field: SchemaField, relationship: str = "") -> BuiltinNode:
    if field.kind == "message" and relationship:
        return BuiltinNode(field.type, atomic=relationship == "atomic")
    return struct_node(field.type) if field.kind == "message" else _RAW if field.kind == "raw" else UNKNOWN


_RAW = BuiltinNode(atomic=True)


class SchemaNode:
    """The same by x-kubernetes-list-type, -list-map-keys and -map-type of a custom resource's schema.

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
            return struct_node(META)
        known = (self._schema.get("properties") or {}).get(name)
        return SchemaNode(additional(self._schema)[1] if known is None else known)

    def declares(self, name: str) -> bool:
        whole = self._root or self._schema.get("x-kubernetes-embedded-resource")
        if whole and name in ("apiVersion", "kind", "metadata"):
            return True
        return name in (self._schema.get("properties") or {})

    def item(self) -> SchemaNode:
        return SchemaNode(items(self._schema))

    @property
    def item_keys(self) -> Keys:
        match self._schema.get("x-kubernetes-list-type"):
            case "set":
                return ()
            case "map":
                return tuple(self._schema.get("x-kubernetes-list-map-keys") or ())
        return None

    def keys(self, value: list[Any]) -> Keys:
        return _applicable(self.item_keys, value)

    def key_default(self, key: str) -> Any:
        properties: Mapping[str, Any] = (items(self._schema) or {}).get("properties") or {}
        return (properties.get(key) or {}).get("default")


Node: TypeAlias = BuiltinNode | SchemaNode


def root_of(resource: Resource) -> Node:
    """Return the node of a whole object."""
    if resource.custom:
        return SchemaNode(resource.schemas.get(resource.version), root=True)
    return BuiltinNode(message_of(resource.api_version, resource.kind) or "")
