"""Validate custom resources against their structural schema, with upstream's messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, joined, limited, required
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.regexps import InvalidPattern, TextTooLong, matcher
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.structural.schema import ANYTHING, Schema, additional, is_choice, items
from ktui.kube.structural.schema import required as required_members
from ktui.writes.decoding.body import json_type


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


_INT64 = 1 << 63
TYPES = {"object": "object", "array": "array", "string": "string", "boolean": "bool"}


@limited
def custom_errors(obj: Obj, resource: Resource, subresource: str = "") -> Iterator[FieldError]:
    """Yield the schema's errors for a custom resource; for its status alone if `subresource` is "status".

    Upstream validates a status as if it were the whole object, which its messages show.
    """
    schema = resource.schemas.get(resource.version, ANYTHING)
    for error in chain(validate(obj, schema), duplicates(obj, schema)):
        if subresource != "status":
            yield error
        elif f"{error.field}.".startswith(("status.", "status[")):
            yield _alone(error)


def _alone(error: FieldError) -> FieldError:
    path, rest = error.field, error.field.removeprefix("status").removeprefix(".")
    return FieldError(path, error.reason, error.message.replace(f": {path} in body", f": {rest} in body", 1))


def validate(value: Any, schema: Schema, path: Path | None = None) -> Iterator[FieldError]:
    """Yield every violation: types, required members, enum, bounds, lengths and patterns."""
    if value is None and schema.get("nullable"):
        return
    wanted = schema.get("type")
    if wanted and not schema.get("x-kubernetes-int-or-string") and not _is_a(value, wanted):
        yield from _wrong_type(joined(path)[1:], wanted, value)
        yield from _enum_errors(value, schema, path)
        return
    yield from _value_errors(value, schema, path)
    if isinstance(value, dict):
        yield from _member_errors(value, schema, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, item in enumerate(value):
            yield from validate(item, schema["items"], (path, f"[{at}]"))


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
    yield from _enum_errors(value, schema, path)
    for rule, broken, words in _RULES:
        if rule in schema and broken(value, schema[rule]):
            yield _broken(value, path, words.format(schema[rule]))
    if isinstance(value, str) and isinstance(pattern := schema.get("pattern"), str) and pattern:
        yield from _pattern_errors(value, pattern, path)


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
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and value == int(value) and -_INT64 <= value < _INT64
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
        again = f'Invalid value: "": Checked value must be of type integer (default format) in {path}'
        errors.append(FieldError("<nil>", "FieldValueInvalid", again))
    return errors


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_RULES: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("minimum", lambda v, rule: _is_number(v) and v < rule, "should be greater than or equal to {}"),
    ("maximum", lambda v, rule: _is_number(v) and v > rule, "should be less than or equal to {}"),
    ("minLength", lambda v, rule: isinstance(v, str) and len(v) < rule, "should be at least {} chars long"),
    ("maxLength", lambda v, rule: isinstance(v, str) and len(v) > rule, "should be at most {} chars long"),
    ("minItems", lambda v, rule: isinstance(v, list) and len(v) < rule, "should have at least {} items"),
    ("maxItems", lambda v, rule: isinstance(v, list) and len(v) > rule, "should have at most {} items"),
)
