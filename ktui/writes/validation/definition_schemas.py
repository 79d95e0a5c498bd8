"""Validate the schemas of definitions (upstream: apiextensions/validation)."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, forbidden, invalid, joined, not_supported, required
from ktui.kube.structural.schema import META_FIELDS, prune_object
from ktui.writes.validation.custom_resources import validate
from ktui.writes.validation.structural_schemas import (
    EMBEDDED,
    PRESERVE,
    Schema,
    junctions,
    part,
    properties,
    structural_errors,
)

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_KIND, _MAP, _KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
# What may stand at the root beside a status subresource: the Go names of the members.
_AT_ROOT = (
    "Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum",
    "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required",
    "Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
)  # fmt: skip
_WITH_STATUS = "the root of the schema if the status subresource is enabled"
_GO_NAMES = {PRESERVE: "XPreserveUnknownFields", "x-kubernetes-validations": "XValidations"}
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def schema_errors(schema: Schema, where: str, *, has_status: bool) -> Iterator[FieldError]:
    """Yield the errors of a version's schema, which is at the path `where`.

    `has_status`: the version has a status subresource, which needs the status' schema by itself.
    """
    path: Path = None, where
    if has_status:
        yield from _root_errors(schema, path)
    if schema.get("nullable"):
        yield forbidden(joined((path, ".nullable")), "nullable cannot be true at the root")
    yield from structural_errors(schema, path) or _default_errors(schema, path)
    yield from _SchemaRules().errors(schema, path, at_root=True)


def _root_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    for name, value in schema.items():
        go_name = _GO_NAMES.get(name, name[:1].upper() + name[1:])
        if name == "type" and value not in ("", "object"):
            why = f'only "object" is allowed as the type at {_WITH_STATUS}'
            yield invalid(joined((path, ".type")), value, why)
            return
        if value and go_name not in _AT_ROOT:
            why = f"only [{' '.join(_AT_ROOT)}] fields are allowed at {_WITH_STATUS}"
            yield invalid(joined(path), schema, why)
            return


def _default_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Yield the errors of defaults: they have no unknown fields, and fit their schema."""
    if (default := schema.get("default")) is not None:
        pruned = {"value": deepcopy(default)}
        if prune_object(pruned, {"properties": {"value": schema}}):
            yield invalid(joined((path, ".default")), default, "must not have unknown fields")
        for fault in validate(default, schema):
            inner = f".{fault.field}" if fault.field[:1] not in ("", "[") else fault.field
            yield replace(fault, field=joined(((path, ".default"), inner)))
    if (each := part(schema, "items")) is not None:
        yield from _default_errors(each, (path, ".items"))
    for name, inner_schema in properties(schema).items():
        yield from _default_errors(inner_schema, (path, f".properties[{name}]"))


class _SchemaRules:
    """The rules of a schema and of all in it.

    `no_defaults`: why there may be none; `in_meta`: the schema is of an object's metadata.
    """

    def __init__(self, no_defaults: str = "", *, in_meta: bool = False) -> None:
        self._no_defaults, self._in_meta = no_defaults, in_meta

    def errors(self, schema: Schema, path: Path, *, at_root: bool = False) -> Iterator[FieldError]:
        yield from self._own(schema, path)
        if schema.get("uniqueItems"):
            why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            yield forbidden(joined((path, ".uniqueItems")), why)
        yield from self._others(schema, path)
        for name, inner in properties(schema).items():
            rules = self
            if name in META_FIELDS and (at_root or schema.get(EMBEDDED)):
                rules = _SchemaRules(f"in top-level {name}" if at_root else self._no_defaults, in_meta=True)
            yield from rules.errors(inner, (path, f".properties[{name}]"))
        for nested, where in junctions(schema):
            yield from self.errors(nested, (path, where))
        if (each := part(schema, "items")) is not None:
            yield from self.errors(each, (path, ".items"))
        if schema.get(PRESERVE) is False:
            yield invalid(joined((path, f".{PRESERVE}")), False, "must be true or undefined")
        yield from _map_errors(schema, path)
        yield from _list_errors(schema, path)
        yield from _rule_errors(schema, path)

    def _own(self, schema: Schema, path: Path) -> Iterator[FieldError]:
        kind = schema.get("type") or ""
        if kind and kind not in _TYPES:
            yield not_supported(joined((path, ".type")), kind, _TYPES)
        if schema.get("default") is not None and self._no_defaults:
            yield forbidden(joined((path, ".default")), f"must not be set {self._no_defaults}")
        for name in _UNSUPPORTED:
            if schema.get(name):
                yield forbidden(joined((path, f".{name}")), f"{name} is not supported")
        if kind == "null":
            yield forbidden(
                joined((path, ".type")), "type cannot be set to null, use nullable as an alternative"
            )
        if isinstance(schema.get("items"), list):
            yield forbidden(joined((path, ".items")), "items must be a schema object and not an array")
        if self._in_meta and schema.get(EMBEDDED):
            yield forbidden(joined((path, f".{EMBEDDED}")), "must not be used inside of resource meta")

    def _others(self, schema: Schema, path: Path) -> Iterator[FieldError]:
        others = schema.get("additionalProperties")
        if others is None:
            return
        where = path, ".additionalProperties"
        if schema.get("properties") and others is not True:
            yield forbidden(joined(where), "additionalProperties and properties are mutual exclusive")
        if (inner := part(schema, "additionalProperties")) is not None:
            rules = self
            if self._in_meta:
                why = "inside additionalProperties applying to object metadata"
                rules = _SchemaRules(why, in_meta=True)
            yield from rules.errors(inner, where)


def _of_type(schema: Schema, path: Path, wanted: str, extension: str) -> Iterator[FieldError]:
    """Yield the error of a schema that has an extension for another type."""
    if extension in schema and (kind := schema.get("type") or "") != wanted:
        where, why = joined((path, ".type")), f"must be {wanted} if {extension} is specified"
        yield invalid(where, kind, why) if kind else required(where, why)


def _map_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    yield from _of_type(schema, path, "object", _MAP)
    if (kind := schema.get(_MAP, "atomic")) not in ("atomic", "granular"):
        yield not_supported(joined((path, f".{_MAP}")), kind, ("atomic", "granular"))


def _list_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    kind, keys, each = schema.get(_KIND), schema.get(_KEYS) or [], part(schema, "items")
    if kind is None and not keys:
        return
    where, items_path = joined((path, f".{_KIND}")), (path, ".items")
    wrong_type = [*_of_type(schema, path, "array", _KIND)]
    yield from wrong_type
    if not wrong_type and kind == "set" and each is not None:
        atomic = f"must be atomic as item of a list with {_KIND}=set"
        if each.get("type") == "array" and each.get(_KIND, "atomic") != "atomic":
            yield invalid(joined((items_path, f".{_KIND}")), each[_KIND], atomic)
        elif each.get("type") == "object" and each.get(_MAP) != "atomic":
            # Here upstream shows the other extension.
            yield invalid(joined((items_path, f".{_MAP}")), each.get(_KIND), atomic)
    if kind not in (None, "atomic", "set", "map"):
        yield not_supported(where, kind, ("atomic", "set", "map"))
    if keys and kind != "map":
        why = f"must be map if {_KEYS} is non-empty"
        yield required(where, why) if kind is None else invalid(where, kind, why)
    if kind == "map":
        yield from _keyed_errors(keys, each, path)
    if kind in ("set", "map") and each is not None:
        yield from _key_errors(kind, keys, each, items_path)


def _keyed_errors(keys: list[Any], each: Schema | None, path: Path) -> Iterator[FieldError]:
    """Yield the errors of a list whose items have keys: which keys, and that items can have them."""
    where = joined((path, f".{_KEYS}"))
    if not keys:
        yield required(where, f"must not be empty if {_KIND} is map")
    if each is None:
        yield required(joined((path, ".items")), f"must have a schema if {_KIND} is map")
        return
    if each.get("type") != "object":
        why = f"must be object if parent array's {_KIND} is map"
        yield invalid(joined((path, ".items.type")), each.get("type") or "", why)
        return
    seen = set()
    for key in keys:
        inner = properties(each).get(key)
        if inner is None:
            yield invalid(where, keys, "entries must all be names of item properties")
        elif inner.get("type") in ("array", "object"):
            why = f"must be a scalar type if parent array's {_KIND} is map"
            yield invalid(joined((path, f".items.properties[{key}].type")), "object", why)
        if key in seen:
            yield invalid(where, keys, "must not contain duplicate entries")
        seen.add(key)


def _key_errors(kind: str, keys: list[Any], each: Schema, path: Path) -> Iterator[FieldError]:
    """Yield the errors of items that may be null, or lack a key."""
    if each.get("nullable"):
        yield forbidden(joined((path, ".nullable")), f"cannot be nullable when {_KIND} is {kind}")
    for key in keys if kind == "map" else ():
        inner, where = properties(each).get(key), (path, f".properties[{key}]")
        if inner is None:
            continue
        if key not in (each.get("required") or ()) and inner.get("default") is None:
            why = f"this property is in {_KEYS}, so it must have a default or be a required property"
            yield required(joined((where, ".default")), why)
        if inner.get("nullable"):
            why = f"this property is in {_KEYS}, so it cannot be nullable"
            yield forbidden(joined((where, ".nullable")), why)


def _rule_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Yield the errors of CEL rules besides the expressions, which are not compiled."""
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        where = path, f".x-kubernetes-validations[{index}]"
        text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
        if not text:
            yield required(joined((where, ".rule")), "rule is not specified")
        elif message and not message.strip():
            yield invalid(joined((where, ".message")), message, "must be non-empty if specified")
        elif _breaks(message.strip()):
            yield invalid(joined((where, ".message")), message, "must not contain line breaks")
        elif _breaks(text) and not message:
            why = "message must be specified if rule contains line breaks"
            yield required(joined((where, ".message")), why)
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            yield not_supported(joined((where, ".reason")), reason, _REASONS)


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
