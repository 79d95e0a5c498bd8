"""Validate custom resources against their structural schema, with upstream's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, invalid, joined, limited, required, too_long, too_many
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.regexps import InvalidPattern, TextTooLong, matcher
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.scale import paths_of, type_fault, value_at
from ktui.kube.structural.schema import ANYTHING, Schema, additional, is_choice, items
from ktui.kube.structural.schema import required as required_members
from ktui.writes.decoding.body import json_type
from ktui.writes.objectmeta import metadata_of
from ktui.writes.validation.formats import has_format

# After errors of these kinds upstream does not check an object by the rules of its schema.
_BLOCKING = frozenset(
    f"FieldValue{kind}" for kind in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid")
)
_COMBINED = frozenset({"anyOf", "oneOf", "allOf", "not"})
_MOST = 20


def duplicates(value: Any, schema: Schema | None, path: Path | None = None) -> Iterator[FieldError]:
    """Yield an error for each duplicate in lists with x-kubernetes-list-type: a set's value, a map's key."""
    if schema is None:
        return
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        rest = additional(schema)[1]
        for name, member in value.items():
            if name in properties:
                yield from duplicates(member, properties[name], (path, f".{name}"))
            else:
                yield from duplicates(member, rest, (path, f"[{name}]"))
    elif isinstance(value, list):
        yield from _of_list(value, schema, path)
        for at, item in enumerate(value):
            yield from duplicates(item, items(schema), (path, f"[{at}]"))


def _of_list(value: list[Any], schema: Schema, path: Path | None) -> Iterator[FieldError]:
    kind = schema.get("x-kubernetes-list-type")
    if kind not in ("set", "map"):
        return
    keys = schema.get("x-kubernetes-list-map-keys") or []
    seen: dict[str, int] = {}
    for at, item in enumerate(value):
        shown = item
        if kind == "map":
            shown = {key: item[key] for key in keys if key in item} if isinstance(item, dict) else {}
        text = json.dumps(shown, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield FieldError(
                joined((path, f"[{at}]")).removeprefix("."), "FieldValueDuplicate", f"Duplicate value: {text}"
            )


_INT64, _INT32 = 1 << 63, (1 << 31) - 1
TYPES = {"object": "object", "array": "array", "string": "string", "boolean": "bool"}


@limited
def custom_errors(obj: Obj, resource: Resource, subresource: str = "") -> Iterator[FieldError]:
    """Yield the schema's errors for a custom resource; for its status alone if `subresource` is "status".

    Upstream validates a status as if it were the whole object, which its messages show.
    """
    schema = resource.schemas.get(resource.version, ANYTHING)
    blocked = False
    for error in chain(_own(validate(obj, schema), subresource), _scaled(obj, resource, subresource)):
        blocked = blocked or error.reason in _BLOCKING
        yield error
    yield from _own(duplicates(obj, schema), subresource)
    if (blocked or not metadata_of(obj).get("name")) and _has_rules(schema):
        why = (
            "some validation rules were not checked because the object was invalid; correct the existing "
            "errors to complete validation"
        )
        yield invalid("<nil>", None, why)


def _own(errors: Iterator[FieldError], subresource: str) -> Iterator[FieldError]:
    """Yield the errors of what is written: of the status alone, or all."""
    for error in errors:
        if subresource != "status":
            yield error
        elif f"{error.field}.".startswith(("status.", "status[")):
            path, rest = error.field, error.field.removeprefix("status").removeprefix(".")
            yield replace(error, message=error.message.replace(f": {path} in body", f": {rest} in body", 1))


def _has_rules(schema: Any) -> bool:
    """Whether a schema or one in it has rules in CEL."""
    if isinstance(schema, list):
        return any(map(_has_rules, schema))
    if not isinstance(schema, dict | Mapping):
        return False
    return "x-kubernetes-validations" in schema or any(map(_has_rules, schema.values()))


def _scaled(obj: Obj, resource: Resource, subresource: str) -> Iterator[FieldError]:
    """Yield the errors of what the scale subresource reads: numbers of replicas, and a selector."""
    paths = paths_of(resource.scale)
    for path in (paths.replicas, paths.observed) if subresource != "status" else (paths.observed,):
        value = value_at(obj, path) if path else None
        if value is None:
            continue
        if fault := type_fault(path, value, int):
            yield invalid(path, 0, fault)
        elif value < 0:
            yield invalid(path, value, "should be a non-negative integer")
        elif value > _INT32:
            yield invalid(path, value, f"should be less than or equal to {_INT32}")
    selected = value_at(obj, paths.selector) if paths.selector else None
    if selected is not None and (fault := type_fault(paths.selector, selected, str)):
        yield invalid(paths.selector, "", fault)


def validate(value: Any, schema: Schema, path: Path | None = None) -> Iterator[FieldError]:
    """Yield every violation: types, required members, enum, bounds, lengths and patterns."""
    if value is None and schema.get("nullable"):
        return
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, str) and not _is_a(value, "integer"):
            yield from _wrong_type(joined(path)[1:], "integer,string", value)
    elif wanted and not _is_a(value, wanted):
        yield from _wrong_type(joined(path)[1:], wanted, value)
        yield from _combined(value, schema, path)
        yield from _enum_errors(value, schema, path)
        return
    yield from _combined(value, schema, path)
    yield from _value_errors(value, schema, path)
    if isinstance(value, dict):
        yield from _member_errors(value, schema, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, item in enumerate(value):
            yield from validate(item, schema["items"], (path, f"[{at}]"))


def _combined(value: Any, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    """Yield the errors of schemas in a schema: upstream's of all of them, then those of the first."""
    if not schema.keys() & _COMBINED:
        return
    name = quote(joined(path)[1:])
    any_of, one_of, all_of = (_of_each(value, schema.get(rule), path) for rule in ("anyOf", "oneOf", "allOf"))
    if any_of and all(any_of):
        yield _overall(f"{name} must validate at least one schema (anyOf)")
        yield from any_of[0]
    if one_of:
        valid = sum(not errors for errors in one_of)
        if valid != 1:
            found = f"Found {valid} valid alternatives" if valid else "Found none valid"
            yield _overall(f"{name} must validate one and only one schema (oneOf). {found}")
        if not valid:
            yield from one_of[0]
    if any(all_of):
        yield from (error for errors in all_of for error in errors)
        none = "" if not all(all_of) else ". None validated"
        yield _overall(f"{name} must validate all the schemas (allOf){none}")
    if isinstance(rejected := schema.get("not"), dict) and not any(
        True for _ in validate(value, rejected, path)
    ):
        yield _overall(f"{name} must not validate the schema (not)")


def _of_each(value: Any, schemas: Any, path: Path | None) -> list[list[FieldError]]:
    """Return the first errors of the value by each of these schemas."""
    return [list(islice(validate(value, each, path), _MOST)) for each in schemas or ()]


def _overall(why: str) -> FieldError:
    return invalid("<nil>", "", why)


def _member_errors(value: Obj, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    for name in required_members(schema):
        if name not in value:
            yield required(joined((path, f".{name}"))[1:])
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for name, member in value.items():
        sub = properties.get(name, additional)
        # ObjectMeta has its own rules.
        if isinstance(sub, dict) and (path is not None or name not in ("apiVersion", "kind", "metadata")):
            yield from validate(member, sub, (path, f".{name}"))


def _enum_errors(value: Any, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    if "enum" not in schema or is_choice(value, schema["enum"]):
        return
    choices = ", ".join(map(_shown, schema["enum"]))
    message = f"Unsupported value: {_shown(value)}: supported values: {choices}"
    yield FieldError(joined(path)[1:], "FieldValueNotSupported", message)


def _value_errors(value: Any, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    yield from _size_errors(value, schema, path)
    if isinstance(value, str):
        if isinstance(pattern := schema.get("pattern"), str) and pattern:
            yield from _pattern_errors(value, pattern, path)
        if isinstance(name := schema.get("format"), str) and not has_format(value, name):
            shown, field = quote(value), joined(path)[1:]
            why = f"Invalid value: {shown}: {field} in body must be of type {name}: {shown}"
            yield FieldError(field, "FieldValueTypeInvalid", why)
    elif _is_a(value, "number"):
        yield from _number_errors(value, schema, path)
    yield from _enum_errors(value, schema, path)


def _number_errors(value: float, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    """Yield the violated bounds of a number; `exclusiveMinimum` makes the least a number above `minimum`."""
    least, most, step = (schema.get(rule) for rule in ("minimum", "maximum", "multipleOf"))
    above, below = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True
    if step and (value / step) % 1:
        yield _broken(value, path, f"should be a multiple of {step}")
    if most is not None and (value > most or (below and value == most)):
        yield _broken(value, path, f"should be less than {'' if below else 'or equal to '}{most}")
    if least is not None and (value < least or (above and value == least)):
        yield _broken(value, path, f"should be greater than {'' if above else 'or equal to '}{least}")


def _size_errors(value: Any, schema: Schema, path: Path | None) -> Iterator[FieldError]:
    """Yield the violated bounds of the length of a text, list or object, and duplicates in a list."""
    kind = type(value)
    least, most, what = _SIZES.get(kind, ("", "", ""))
    if not what:
        return
    field = joined(path)[1:]
    if (limit := schema.get(most)) is not None and len(value) > limit:
        yield too_long(field, limit) if kind is str else too_many(field, len(value), limit)
    if (limit := schema.get(least)) is not None and len(value) < limit:
        yield _broken(value, path, f"should {what.format(limit)}")
    if kind is list and schema.get("uniqueItems") and len(set(map(_sorted, value))) < len(value):
        yield invalid(field, "", f"{field} in body shouldn't contain duplicates")


_SIZES: dict[type, tuple[str, str, str]] = {
    str: ("minLength", "maxLength", "be at least {} chars long"),
    list: ("minItems", "maxItems", "have at least {} items"),
    dict: ("minProperties", "maxProperties", "have at least {} properties"),
}


def _pattern_errors(value: str, pattern: str, path: Path | None) -> Iterator[FieldError]:
    try:
        if not matcher(pattern)(value):
            yield _broken(value, path, f"should match '{pattern}'")
    except InvalidPattern:
        return  # of a definition that another server has stored
    except TextTooLong:
        yield _broken(value, path, f"is too long to be matched with '{pattern}'")


def _broken(value: Any, path: Path | None, words: str) -> FieldError:
    field = joined(path)[1:]
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {_shown(value)}: {field} in body {words}")


def _is_a(value: Any, wanted: str) -> bool:
    if wanted == "integer":
        return _is_a(value, "number") and value == int(value) and -_INT64 <= value < _INT64
    if wanted == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return json_type(value) == TYPES.get(wanted, wanted)


def _wrong_type(path: str, wanted: str, value: Any) -> list[FieldError]:
    found = {"bool": "boolean", "number": "integer" if _is_a(value, "integer") else "number"}
    name = found.get(json_type(value), json_type(value))
    shown = quote(name)
    message = f"Invalid value: {shown}: {path} in body must be of type {wanted}: {shown}"
    errors = [FieldError(path, "FieldValueTypeInvalid", message)]
    if wanted == "integer" and name == "number":
        # Upstream validates numbers twice.
        errors.append(_overall(f"Checked value must be of type integer (default format) in {path}"))
    return errors


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_sorted = partial(json.dumps, sort_keys=True)
