"""What makes a schema structural (upstream: apiextensions-apiserver, schema/validation.go and complete.go).

Every field has a type outside `allOf`, `anyOf`, `oneOf` and `not`; within these only values are restricted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, forbidden, invalid, joined, limited, required
from ktui.kube.golang.regexps import InvalidPattern, matcher

Schema = Mapping[str, Any]

PRESERVE, EMBEDDED, INT_OR_STRING = (
    "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
)  # fmt: skip
JUNCTORS = ("anyOf", "allOf", "oneOf")
_INTEGER_OR_STRING = [{"type": "integer"}, {"type": "string"}]
# By whether a schema is the root, of a list's items, or of a field: what its missing type is.
ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
# What only the schema itself may say, and in which words upstream refuses it elsewhere.
_NOT_NESTED = {
    "type": "must be empty", "additionalProperties": "must be undefined", "default": "must be undefined",
    "title": "must be empty", "description": "must be empty", "nullable": "must be false",
    PRESERVE: "must be false", EMBEDDED: "must be false", INT_OR_STRING: "must be false",
    "x-kubernetes-list-map-keys": "must be empty", "x-kubernetes-list-type": "must be undefined",
    "x-kubernetes-map-type": "must be undefined", "x-kubernetes-validations": "must be empty",
}  # fmt: skip


def part(schema: Schema, member: str) -> Schema | None:
    """Return a schema in a schema: its `items`, `not`, `additionalProperties`."""
    found = schema.get(member)
    return found if isinstance(found, Mapping) else None


def properties(schema: Schema) -> Mapping[str, Schema]:
    found = schema.get("properties") or {}
    return {name: each for name, each in found.items() if isinstance(each, Mapping)}


def junctions(schema: Schema) -> Iterator[tuple[Schema, str]]:
    """Yield the schemas that restrict the same value, each with its path: `.anyOf[0]`, `.not`."""
    for member in JUNCTORS:
        for index, each in enumerate(schema.get(member) or ()):
            if isinstance(each, Mapping):
                yield each, f".{member}[{index}]"
    if (each := part(schema, "not")) is not None:
        yield each, ".not"


def member_schema(schema: Schema, name: str) -> Schema | None:
    return properties(schema).get(name)


def structural_errors(schema: Schema, path: Path) -> list[FieldError]:
    """Return why a schema is not structural, in upstream's order: that of the texts.

    Of more than a response shows, those that are found first.
    """
    return sorted(_found(schema, path), key=str)


@limited
def _found(schema: Schema, path: Path) -> Iterator[FieldError]:
    yield from _invariants(schema, ROOT, path)
    yield from _incomplete(schema, schema, path, path)


def _invariants(schema: Schema, level: str, path: Path) -> Iterator[FieldError]:
    each = part(schema, "items")
    if schema.get("type") == "array" and each is None:
        yield required(joined((path, ".items")), "must be specified")
    if each is not None:
        yield from _invariants(each, ITEM, (path, ".items"))
    for name, inner in properties(schema).items():
        yield from _invariants(inner, FIELD, (path, f".properties[{name}]"))
    yield from _of_others(schema, level, path)
    if schema.get(INT_OR_STRING):
        for name in (PRESERVE, EMBEDDED):
            if schema.get(name):
                yield invalid(joined((path, f".{name}")), True, f"must be false if {INT_OR_STRING} is true")
    yield from _values(schema, path)
    yield from _type_errors(schema, level, path)
    yield from _object_meta(schema, level, path)
    if schema.get(EMBEDDED) and not (schema.get(PRESERVE) or properties(schema)):
        why = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        yield required(joined((path, ".properties")), why)


def _of_others(schema: Schema, level: str, path: Path) -> Iterator[FieldError]:
    """Yield the errors of additionalProperties."""
    others = schema.get("additionalProperties")
    if others is None:
        return
    where = path, ".additionalProperties"
    if level == ROOT:
        yield forbidden(joined(where), "must not be used at the root")
    if isinstance(others, Mapping):
        yield from _invariants(others, FIELD, where)
    if schema.get(EMBEDDED):
        yield forbidden(joined(where), f"must not be used if {EMBEDDED} is set")


def _type_errors(schema: Schema, level: str, path: Path) -> Iterator[FieldError]:
    kind, where = schema.get("type") or "", (path, ".type")
    if schema.get(EMBEDDED) and kind != "object":
        why = f"must be object if {EMBEDDED} is true"
        yield invalid(joined(where), kind, why) if kind else required(joined(where), why)
    elif not (kind or schema.get(INT_OR_STRING) or schema.get(PRESERVE)):
        yield required(joined(where), f"must not be empty {level}")
    if level == ROOT and kind not in ("", "object"):
        yield invalid(joined(where), kind, "must be object at the root")


def _object_meta(schema: Schema, level: str, path: Path) -> Iterator[FieldError]:
    """Yield the errors of `kind`, `apiVersion` and `metadata` of a whole object."""
    if not (level == ROOT or schema.get(EMBEDDED)):
        return
    for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        inner = member_schema(schema, name)
        if inner is not None and (kind := inner.get("type") or "") != wanted:
            yield invalid(joined((path, f".properties[{name}].type")), kind, f"must be {wanted}")
    metadata = member_schema(schema, "metadata")
    if level == ROOT and metadata is not None:
        named = properties(metadata).keys() <= {"name", "generateName"}
        said = {name for name, value in metadata.items() if value and name not in ("type", "default")}
        if said - ({"properties"} if named else set()):
            why = "must not specify anything other than name and generateName"
            where = joined((path, ".properties[metadata]"))
            yield forbidden(where, f"{why}, but metadata is implicitly specified")


def _values(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Yield the errors of what restricts a value: of nested schemas, and of a pattern."""
    whole = schema.get("anyOf") == _INTEGER_OR_STRING
    for nested, where in junctions(schema):
        if not (whole and where.startswith(".anyOf")):
            yield from _nested(nested, (path, where), first=where == ".allOf[0]")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and pattern:
        try:
            matcher(pattern)
        except InvalidPattern as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(joined((path, ".pattern")), pattern, why)


def _nested(schema: Schema, path: Path, *, first: bool = False) -> Iterator[FieldError]:
    """Yield the errors of a schema in allOf, anyOf, oneOf or not; the `first` may allow numbers and texts."""
    if first and schema.get("anyOf") == _INTEGER_OR_STRING:
        schema = {name: value for name, value in schema.items() if name != "anyOf"}
    yield from _values(schema, path)
    if (each := part(schema, "items")) is not None:
        yield from _nested(each, (path, ".items"))
    for name, inner in properties(schema).items():
        yield from _nested(inner, (path, f".properties[{name}]"))
    for name, why in _NOT_NESTED.items():
        if schema.get(name):
            yield forbidden(joined((path, f".{name}")), f"{why} to be structural")
    if member_schema(schema, "metadata") is not None:
        yield forbidden(joined((path, ".properties[metadata]")), "must not be specified in a nested context")


def _incomplete(nested: Schema, schema: Schema | None, at: Path, path: Path) -> Iterator[FieldError]:
    """Yield an error for each part of `nested`, which is at `path`, that `schema` at `at` does not have."""
    for inner, where in junctions(nested):
        yield from _missing(inner, schema, at, (path, where))


def _missing(nested: Schema, schema: Schema | None, at: Path, path: Path) -> Iterator[FieldError]:
    if schema is None:
        yield required(joined(at), f"because it is defined in {joined(path)}")
        return
    yield from _incomplete(nested, schema, at, path)
    if (each := part(nested, "items")) is not None:
        yield from _missing(each, part(schema, "items"), (at, ".items"), (path, ".items"))
    for name, inner in properties(nested).items():
        step = f".properties[{name}]"
        yield from _missing(inner, member_schema(schema, name), (at, step), (path, step))
