"""Validate CustomResourceDefinitions by the rules that decide whether their resources can be served.

Upstream: apiextensions/validation. Schemas must be structural; their CEL rules are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ktui.kube.fielderrors import FieldError, Path, forbidden, invalid, joined, limited, required
from ktui.kube.golang.regexps import InvalidPattern, matcher
from ktui.kube.json_trees import Obj
from ktui.kube.names import LABEL_1035, LABEL_1035_FAULT
from ktui.writes.definitions import versions_of
from ktui.writes.objectmeta import metadata_of
from ktui.writes.validation.custom_resources import validate
from ktui.writes.validation.updates.field_rules import at, fixed, spec_of
from ktui.writes.validation.values.checks import inside, one_of, subdomain

Schema = Mapping[str, Any]

ONE_STORAGE = "must have exactly one version marked as storage version"
_FREE = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")


@limited
def definition_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the causes to refuse a definition, new or changed."""
    spec = spec_of(obj)
    names, group = spec.get("names") or {}, str(spec.get("group") or "")
    name = str(metadata_of(obj).get("name") or "")
    if name != f"{names.get('plural', '')}.{group}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield required("spec.group")
    yield from inside("spec.group", subdomain(group))
    if group and "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    yield from inside("spec.scope", one_of("Cluster", "Namespaced")(str(spec.get("scope") or "")))
    yield from _version_errors(obj)
    yield from _column_errors(versions_of(obj))
    yield from _name_errors(names)
    if spec.get("preserveUnknownFields"):
        instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid("spec.preserveUnknownFields", True, f"cannot set to true, {instead}")
    yield from _conversion_errors(spec.get("conversion"))
    yield from _stored_errors(obj)


_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


def _column_errors(versions: list[Obj]) -> Iterator[FieldError]:
    """Yield the errors of printer columns, which the internal type has once if all versions agree in them."""
    columns = [version.get("additionalPrinterColumns") or [] for version in versions]
    paths = [f"spec.versions[{index}]" for index in range(len(columns))]
    if all(each == columns[0] for each in columns):
        columns, paths = columns[:1], ["spec"]
    for path, each in zip(paths, columns, strict=False):
        for index, column in enumerate(each):
            yield from inside(f"{path}.additionalPrinterColumns[{index}]", _one_column(column))


def _one_column(column: Obj) -> Iterator[FieldError]:
    kind, form, source = (str(column.get(name) or "") for name in ("type", "format", "jsonPath"))
    if not column.get("name"):
        yield required(".name")
    must = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(".type", must)
    elif kind not in _COLUMN_TYPES:
        yield invalid(".type", kind, must)
    if form and form not in _COLUMN_FORMATS:
        yield invalid(".format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not source:
        yield required(".JSONPath")
    elif not source.startswith("."):
        yield invalid(".JSONPath", source, "must be a simple json path starting with .")


def _conversion_errors(conversion: Obj | None) -> Iterator[FieldError]:
    if conversion is None:
        return
    path, strategy = "spec.conversion", str(conversion.get("strategy") or "")
    webhook = conversion.get("webhook") or {}
    config, client = webhook.get("clientConfig"), f"{path}.webhookClientConfig"
    yield from inside(f"{path}.strategy", one_of("None", "Webhook")(strategy))
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        if config is not None:
            yield forbidden(client, why)
        if webhook.get("conversionReviewVersions"):
            yield forbidden(f"{path}.conversionReviewVersions", why)
    elif config is None:
        yield required(client, "required when strategy is set to Webhook")
    elif (config.get("url") is None) == (config.get("service") is None):
        yield required(client, "exactly one of url or service is required")


def definition_change_errors(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Yield the errors of an update: names that an established definition keeps, and stored versions."""
    conditions = (old.get("status") or {}).get("conditions") or []
    established = any(c.get("type") == "Established" and c.get("status") == "True" for c in conditions)
    names = ["spec.group", "spec.names.plural"] + (["spec.scope", "spec.names.kind"] if established else [])
    yield from fixed(*names)(old, new)
    present = {v.get("name") for v in versions_of(new)}
    for index, stored in enumerate((old.get("status") or {}).get("storedVersions") or []):
        if stored not in present:
            until = f"no data remains persisted in {stored} and removes {stored} from status.storedVersions"
            why = (
                f"missing from spec.versions; {stored} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures {until}"
            )
            yield invalid(f"status.storedVersions[{index}]", stored, why)


def _stored_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the errors of storage versions in which nothing is said to be stored, among them a second one."""
    stored = list(at(obj, "status.storedVersions") or [])
    left = set(stored)
    if not stored and not any(version.get("storage") for version in versions_of(obj)):
        yield invalid("status.storedVersions", None, "must have at least one stored version")
    for version in versions_of(obj) if stored else ():
        name = version.get("name")
        if version.get("storage") and name not in left:
            yield invalid("status.storedVersions", stored, f"must have the storage version {name}")
        left.discard(name)


def _version_errors(obj: Obj) -> Iterator[FieldError]:
    versions = versions_of(obj)
    names = [str(v.get("name") or "") for v in versions]
    bad = {name for name in names if not LABEL_1035.fullmatch(name) or len(name) > 63}
    for index, name in enumerate(names):
        if name in bad:
            yield invalid(f"spec.versions[{index}].name", name, LABEL_1035_FAULT)
    if len(set(names)) != len(names):
        yield invalid("spec.versions", _shown(versions), "must contain unique version names")
    if sum(bool(v.get("storage")) for v in versions) != 1:
        yield invalid("spec.versions", _shown(versions) or None, ONE_STORAGE)
    if names[:1] and names[0] in bad:  # the internal type has the first one's name once more
        yield invalid("spec.version", names[0], LABEL_1035_FAULT)
    for version, path in _schemas(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if not isinstance(schema, dict):
            yield required(path)
            continue
        yield from _schema_errors(schema, (None, path))
        if not schema.get("type"):
            yield required(f"{path}.type", "must not be empty at the root")
        elif schema["type"] != "object":
            yield invalid(f"{path}.type", schema["type"], "must be object at the root")


# Members of a version, and those that are elsewhere in the internal type if all versions agree in them.
_MEMBERS = {
    "name": "",
    **dict.fromkeys(("served", "storage", "deprecated"), False),
    "deprecationWarning": None,
}
_MOVED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def _shown(versions: list[Obj]) -> list[Obj]:
    """Return versions as upstream's errors show the internal type, but those that differ as they are."""
    if any(v.get(name) != versions[0].get(name) for v in versions for name in _MOVED):
        return versions
    whole = ({**_MEMBERS, **version, **dict.fromkeys(_MOVED)} for version in versions)
    return [{name[0].upper() + name[1:]: one[name] for name in (*_MEMBERS, *_MOVED)} for one in whole]


def _schemas(versions: list[Obj]) -> list[tuple[Obj, str]]:
    """Return the versions whose schemas are checked, and the paths of these in errors.

    Upstream moves a schema that is equal in all versions to `spec.validation`, and checks it there once.
    """
    first = versions[0].get("schema") if versions else None
    if first and all(version.get("schema") == first for version in versions):
        return [(versions[0], "spec.validation.openAPIV3Schema")]
    return [(v, f"spec.versions[{index}].schema.openAPIV3Schema") for index, v in enumerate(versions)]


def _schema_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Yield errors unless the schema is structural: it has a type for every named field."""
    for name, part in (schema.get("properties") or {}).items():
        yield from _part_errors(part, (path, f".properties[{name}]"), "object fields")
    for member, what in (("items", "array items"), ("additionalProperties", "object fields")):
        if isinstance(part := schema.get(member), Mapping):
            yield from _part_errors(part, (path, f".{member}"), what)
    yield from _pattern_errors(schema, path)
    if (default := schema.get("default")) is not None:
        for fault in validate(default, schema):
            inner = f".{fault.field}" if fault.field[:1] not in ("", "[") else fault.field
            yield replace(fault, field=joined(((path, ".default"), inner)))


def _part_errors(part: Any, path: Path, what: str) -> Iterator[FieldError]:
    if not isinstance(part, Mapping):
        return
    if not part.get("type") and not any(part.get(name) for name in _FREE):
        yield required(joined((path, ".type")), f"must not be empty for specified {what}")
    yield from _schema_errors(part, path)


def _pattern_errors(schema: Schema, path: Path) -> Iterator[FieldError]:
    """Yield the errors of a schema's own pattern, and of all patterns in its value validations."""
    for member in ("anyOf", "allOf", "oneOf"):
        for index, part in enumerate(schema.get(member) or ()):
            yield from _nested_errors(part, (path, f".{member}[{index}]"))
    yield from _nested_errors(schema.get("not"), (path, ".not"))
    if isinstance(pattern := schema.get("pattern"), str) and pattern:
        try:
            matcher(pattern)
        except InvalidPattern as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(joined((path, ".pattern")), pattern, why)


def _nested_errors(part: Any, path: Path) -> Iterator[FieldError]:
    if not isinstance(part, Mapping):
        return
    yield from _pattern_errors(part, path)
    yield from _nested_errors(part.get("items"), (path, ".items"))
    for name, inner in (part.get("properties") or {}).items():
        yield from _nested_errors(inner, (path, f".properties[{name}]"))


def _name_errors(names: Obj) -> Iterator[FieldError]:
    for member in ("plural", "singular", "kind", "listKind"):
        name = str(names.get(member) or "")
        if not name:
            yield required(f"spec.names.{member}")
        elif not LABEL_1035.fullmatch(name.lower() if "ind" in member else name) or len(name) > 63:
            yield invalid(f"spec.names.{member}", name, LABEL_1035_FAULT)
    for index, short in enumerate(names.get("shortNames") or []):
        if not LABEL_1035.fullmatch(str(short)):
            yield invalid(f"spec.names.shortNames[{index}]", short, LABEL_1035_FAULT)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same")
