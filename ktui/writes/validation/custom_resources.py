"""Validate custom resources against their structural schema, with upstream's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, invalid, joined, limited, required, too_long, too_many
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.golang.formatting import go_value, quote, to_json
from ktui.kube.golang.regexps import InvalidPattern, TextTooLong, matcher
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.structural.schema import ANYTHING, Schema, is_choice
from ktui.kube.structural.schema import required as required_members
from ktui.writes.decoding.body import json_type
from ktui.writes.objectmeta import metadata_of
from ktui.writes.validation.custom_invariants import (
    embedded_errors,
    keys_text,
    list_errors,
    scale_errors,
)
from ktui.writes.validation.formats import has_format

# After errors of these kinds upstream does not check an object by the rules of its schema.
_BLOCKING = frozenset(
    f"FieldValue{kind}" for kind in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid")
)
_RATCHETING_SINCE = 30
NONE = object()
_COMBINED = frozenset({"anyOf", "oneOf", "allOf", "not"})
_MOST = 20


_INT64, _INT32 = 1 << 63, (1 << 31) - 1
TYPES = {"object": "object", "array": "array", "string": "string", "boolean": "bool"}


@limited
def custom_errors(
    obj: Obj, resource: Resource, subresource: str = "", old: Obj | None = None, minor: int = NEWEST_MINOR
) -> Iterator[FieldError]:
    """Yield the schema's errors for a custom resource; for its status alone if `subresource` is "status".

    Of an update, errors in what it leaves as it is in `old` are tolerated from 1.30 on (upstream's gate
    CRDValidationRatcheting). A status is validated as if it were the whole object, which the messages show.
    """
    schema = resource.schemas.get(resource.version, ANYTHING)
    before = old if old is not None and minor >= _RATCHETING_SINCE else NONE
    blocked = False
    found = chain(
        _own(validate(obj, schema, None, before), subresource),
        scale_errors(obj, resource, subresource),
        _own(embedded_errors(obj, schema), subresource),
    )
    for error in found:
        blocked = blocked or error.reason in _BLOCKING
        yield error
    if old is None or not any(True for _ in list_errors(old, schema)):
        yield from _own(list_errors(obj, schema), subresource)
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


def validate(value: Any, schema: Schema, path: Path | None = None, old: Any = NONE) -> Iterator[FieldError]:
    """Yield every violation: types, required members, enum, bounds, lengths and patterns.

    What is as in the value `old` is tolerated; NONE: there is none to compare with.
    """
    if (value is None and schema.get("nullable")) or (old is not NONE and _unchanged(value, old)):
        return
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, str) and not _is_a(value, "integer"):
            yield from _wrong_type(joined(path)[1:], "integer,string", value)
    elif wanted and not _is_a(value, wanted):
        yield from _wrong_type(joined(path)[1:], wanted, value, str(schema.get("format") or ""))
        yield from _combined(value, schema, path)
        yield from _enum_errors(value, schema, path)
        return
    yield from _combined(value, schema, path)
    yield from _value_errors(value, schema, path)
    if isinstance(value, dict):
        yield from _member_errors(value, schema, path, old)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        before = _by_keys(old, schema)
        for at, item in enumerate(value):
            was = before.get(keys_text(item, schema), NONE) if before else NONE
            yield from validate(item, schema["items"], (path, f"[{at}]"), was)


def _unchanged(value: Any, old: Any) -> bool:
    """Whether two values are equal; in Python 1 equals true."""
    return bool(value == old) and to_json(value) == to_json(old)


def _by_keys(old: Any, schema: Schema) -> dict[str, Any]:
    """Return the old items of a list with keys; items of other lists have no old ones."""
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return {}
    return {keys_text(item, schema): item for item in old}


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


def _member_errors(value: Obj, schema: Schema, path: Path | None, old: Any) -> Iterator[FieldError]:
    before = old if isinstance(old, dict) else {}
    for name in required_members(schema):
        if name not in value:
            yield required(joined((path, f".{name}"))[1:])
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for name, member in value.items():
        sub = properties.get(name, additional)
        # ObjectMeta has its own rules.
        if isinstance(sub, dict) and (path is not None or name not in ("apiVersion", "kind", "metadata")):
            yield from validate(member, sub, (path, f".{name}"), before.get(name, NONE))


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
    if schema.get("format") == "int32" and _is_a(value, "integer") and not -_INT32 - 1 <= value <= _INT32:
        yield _overall(f"Checked value must be of type integer with format int32 in {joined(path)[1:]}")
    if step and (value / step) % 1:
        yield _broken(value, path, f"should be a multiple of {go_value(float(step))}")
    if most is not None and (value > most or (below and value == most)):
        yield _broken(
            value, path, f"should be less than {'' if below else 'or equal to '}{go_value(float(most))}"
        )
    if least is not None and (value < least or (above and value == least)):
        yield _broken(
            value, path, f"should be greater than {'' if above else 'or equal to '}{go_value(float(least))}"
        )


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


def _wrong_type(path: str, wanted: str, value: Any, form: str = "") -> list[FieldError]:
    """Return the errors of a value of another type; those of a type with a format name the formats.

    Upstream: kube-openapi, validate/type.go; texts and lists have no format.
    """
    found = {"bool": "boolean", "number": "integer" if _is_a(value, "integer") else "number"}
    name = found.get(json_type(value), json_type(value))
    if form and not isinstance(value, str | list | None):
        formats = {"integer": "int64", "number": "float64"}
        shown, named = quote(formats.get(name, "")), form
    else:
        shown, named = quote(name), wanted
    message = f"Invalid value: {shown}: {path} in body must be of type {named}: {shown}"
    errors = [FieldError(path, "FieldValueTypeInvalid", message)]
    if wanted == "integer" and name == "number":
        # Upstream validates numbers twice.
        which = f"with format {form}" if form else "(default format)"
        errors.append(_overall(f"Checked value must be of type integer {which} in {path}"))
    return errors


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | dict | list) else go_value(value)


_sorted = partial(json.dumps, sort_keys=True)
