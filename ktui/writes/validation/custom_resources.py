"""Validate custom resources against their structural schema, with upstream's messages."""

from __future__ import annotations

import json
import re
from typing import Any

from ktui.kube.fielderrors import FieldError, required
from ktui.kube.golang.quoting import quote
from ktui.kube.resources import Resource
from ktui.kube.structural.schema import ANYTHING, Schema
from ktui.writes.decoding.body import json_type
from ktui.writes.validation.list_types import duplicates

_INT64 = 1 << 63
TYPES = {"object": "object", "array": "array", "string": "string", "boolean": "bool"}


def custom_errors(obj: dict[str, Any], resource: Resource, subresource: str = "") -> list[FieldError]:
    """Return the schema's errors for a custom resource; for its status alone if `subresource` is "status".

    Upstream validates a status as if it were the whole object, which its messages show.
    """
    schema = resource.schemas.get(resource.version, ANYTHING)
    found = [*validate(obj, schema), *duplicates(obj, schema)]
    if subresource != "status":
        return found
    return [_alone(error) for error in found if f"{error.field}.".startswith(("status.", "status["))]


def _alone(error: FieldError) -> FieldError:
    path, rest = error.field, error.field.removeprefix("status").removeprefix(".")
    return FieldError(path, error.reason, error.message.replace(f": {path} in body", f": {rest} in body", 1))


def validate(value: Any, schema: Schema, path: str = "") -> list[FieldError]:
    """Return every violation: types, required members, enum, bounds, lengths and patterns."""
    if value is None and schema.get("nullable"):
        return []
    wanted = schema.get("type")
    if wanted and not schema.get("x-kubernetes-int-or-string") and not _is_a(value, wanted):
        return [*_wrong_type(path, wanted, value), *_enum_errors(value, schema, path)]
    errors = _value_errors(value, schema, path)
    if isinstance(value, dict):
        errors += _member_errors(value, schema, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, item in enumerate(value):
            errors += validate(item, schema["items"], f"{path}[{at}]")
    return errors


def _member_errors(value: dict[str, Any], schema: Schema, path: str) -> list[FieldError]:
    errors = [required(_join(path, name)) for name in schema.get("required") or [] if name not in value]
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    for name, member in value.items():
        sub = properties.get(name, additional)
        # ObjectMeta has its own rules.
        if isinstance(sub, dict) and (path or name not in ("apiVersion", "kind", "metadata")):
            errors += validate(member, sub, _join(path, name))
    return errors


def _enum_errors(value: Any, schema: Schema, path: str) -> list[FieldError]:
    if "enum" not in schema or value in schema["enum"]:
        return []
    choices = ", ".join(map(_shown, schema["enum"]))
    message = f"Unsupported value: {_shown(value)}: supported values: {choices}"
    return [FieldError(path, "FieldValueNotSupported", message)]


def _value_errors(value: Any, schema: Schema, path: str) -> list[FieldError]:
    errors = _enum_errors(value, schema, path)
    for rule, broken, words in _RULES:
        if rule in schema and broken(value, schema[rule]):
            text = words.format(schema[rule])
            message = f"Invalid value: {_shown(value)}: {path} in body {text}"
            errors.append(FieldError(path, "FieldValueInvalid", message))
    return errors


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


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_RULES = (
    ("minimum", lambda v, rule: _is_number(v) and v < rule, "should be greater than or equal to {}"),
    ("maximum", lambda v, rule: _is_number(v) and v > rule, "should be less than or equal to {}"),
    ("minLength", lambda v, rule: isinstance(v, str) and len(v) < rule, "should be at least {} chars long"),
    ("maxLength", lambda v, rule: isinstance(v, str) and len(v) > rule, "should be at most {} chars long"),
    ("minItems", lambda v, rule: isinstance(v, list) and len(v) < rule, "should have at least {} items"),
    ("maxItems", lambda v, rule: isinstance(v, list) and len(v) > rule, "should have at most {} items"),
    ("pattern", lambda v, rule: isinstance(v, str) and not _matches(rule, v), "should match '{}'"),
)


def _matches(pattern: str, text: str) -> bool:
    """Return whether text matches; True for a pattern in Go's dialect that Python cannot parse."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True
