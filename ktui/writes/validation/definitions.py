"""Validate CustomResourceDefinitions (upstream: apiextensions/validation).

A member that all versions have alike is checked once, as upstream's internal type has it only once: a schema
at `spec.validation`, subresources, columns and selectable fields at `spec`. CEL rules are not compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, required, too_many
from ktui.kube.json_trees import Obj
from ktui.writes.definitions import versions_of
from ktui.writes.objectmeta import metadata_of
from ktui.writes.validation.definition_schemas import schema_errors
from ktui.writes.validation.structural_schemas import Schema, member_schema
from ktui.writes.validation.updates.field_rules import IMMUTABLE, at, spec_of
from ktui.writes.validation.values.checks import dns_1035_faults, duplicate, inside, one_of, subdomain

ONE_STORAGE = "must have exactly one version marked as storage version"
_MOST_SELECTABLE = 8


def name_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the error of a new definition whose name is not that of its resource."""
    spec, name = spec_of(obj), str(metadata_of(obj).get("name") or "")
    if name and name != f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


@limited
def definition_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the causes to refuse what a definition, new or changed, specifies."""
    spec = spec_of(obj)
    names, group, versions = spec.get("names") or {}, str(spec.get("group") or ""), versions_of(obj)
    if not group:
        yield required("spec.group")
    elif faults := [*inside("spec.group", subdomain(group))]:
        yield from faults
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    yield from inside("spec.scope", one_of("Cluster", "Namespaced")(str(spec.get("scope") or "")))
    common = {name: _common(versions, name) for name in _MOVED}
    if _schema_of(common) is None:
        for index, version in enumerate(versions):
            if _schema_of(version) is None:
                yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        own = {name: value for name, value in version.items() if common.get(name) is None}
        yield from _version_errors(own, _has_status(version), f"spec.versions[{index}]")
    yield from _of_all_versions(versions, spec.get("versions"))
    for member in ("plural", "singular", "kind", "listKind"):
        if not names.get(member):
            yield required(f"spec.names.{member}")
    yield from inside("spec.names", _name_errors(names))
    yield from _schema_errors(common, any(map(_has_status, versions)), "spec.validation")
    yield from inside("spec", _part_errors(common))
    yield from _conversion_errors(spec.get("conversion"))


def status_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the errors of a definition outside its spec: accepted names, and stored versions."""
    yield from inside("status.acceptedNames", _name_errors(at(obj, "status.acceptedNames") or {}))
    yield from _stored_errors(obj)
    if spec_of(obj).get("preserveUnknownFields"):
        instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid("spec.preserveUnknownFields", True, f"cannot set to true, {instead}")


def definition_change_errors(old: Obj, new: Obj) -> Iterator[FieldError]:
    """Yield the errors of an update: names that an established definition keeps, and of the status."""
    conditions = (old.get("status") or {}).get("conditions") or []
    established = any(c.get("type") == "Established" and c.get("status") == "True" for c in conditions)
    for path in (
        *(("spec.scope", "spec.names.kind") if established else ()),
        "spec.group",
        "spec.names.plural",
    ):
        was, wanted = (at(obj, path) or "" for obj in (old, new))
        if was != wanted:
            yield invalid(path, wanted, IMMUTABLE)
    yield from status_errors(new)


# Members that the internal type has once if all versions agree in them.
_MOVED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


def _common(versions: list[Obj], name: str) -> Any:
    """Return what all versions have alike, else None."""
    first = versions[0].get(name) if versions else None
    return first if all(version.get(name) == first for version in versions) else None


def _schema_of(version: Obj) -> Schema | None:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    return schema if isinstance(schema, dict) else None


def _has_status(version: Obj) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _version_errors(version: Obj, has_status: bool, path: str) -> Iterator[FieldError]:
    """Yield the errors of a version's own members."""
    name = str(version.get("name") or "")
    if fault := _fault(name):
        yield invalid(f"{path}.name", name, fault)
    warning = version.get("deprecationWarning")
    if warning is not None:
        where = f"{path}.deprecationWarning"
        if not version.get("deprecated"):
            yield invalid(where, warning, "can only be set for deprecated versions")
        elif not warning:
            yield invalid(where, warning, "must not be an empty string")
        elif len(warning.encode()) > 256:
            yield invalid(where, warning, "must be <= 256 characters long")
    yield from _schema_errors(version, has_status, f"{path}.schema")
    yield from inside(path, _part_errors(version))


def _fault(name: str) -> str:
    return ",".join(dns_1035_faults(name))


def _schema_errors(part: Obj, has_status: bool, path: str) -> Iterator[FieldError]:
    if (schema := _schema_of(part)) is not None:
        yield from schema_errors(schema, f"{path}.openAPIV3Schema", has_status=has_status)


def _part_errors(part: Obj) -> Iterator[FieldError]:
    """Yield the errors of subresources, columns and selectable fields."""
    scale = (part.get("subresources") or {}).get("scale")
    if scale is not None:
        yield from inside(".subresources.scale", _scale_errors(scale))
    for index, column in enumerate(part.get("additionalPrinterColumns") or []):
        yield from inside(f".additionalPrinterColumns[{index}]", _one_column(column))
    fields = part.get("selectableFields") or []
    if fields and (schema := _schema_of(part)) is not None:
        yield from inside(".selectableFields", _selectable_errors(fields, schema))


def _scale_errors(scale: Obj) -> Iterator[FieldError]:
    for name, roots in (("specReplicasPath", (".spec.",)), ("statusReplicasPath", (".status.",)),
                        ("labelSelectorPath", (".spec.", ".status."))):  # fmt: skip
        path = str(scale.get(name) or "")
        if not path and len(roots) == 1:
            yield required(f".{name}")
        elif path and not path.startswith("."):
            yield invalid(f".{name}", path, _SIMPLE_PATH)
        elif path and not path.startswith(roots):
            under = " or ".join(root.rstrip(".") for root in roots)
            which = f"either {under}" if len(roots) > 1 else under
            yield invalid(f".{name}", path, f"should be a json path under {which}")


def _selectable_errors(fields: list[Obj], schema: Schema) -> Iterator[FieldError]:
    """Yield the errors of fields by which objects can be selected: texts, numbers and booleans.

    A path that does not lead to a property of the schema is refused, in other words than upstream's.
    """
    seen = set()
    for index, field in enumerate(fields):
        path, where = str(field.get("jsonPath") or ""), f"[{index}].jsonPath"
        if not path:
            yield required(where)
            continue
        found: Schema | None = schema
        for step in path.removeprefix(".").split("."):
            found = None if found is None else member_schema(found, step)
        if found is None or not path.startswith("."):
            yield invalid(where, path, "is an invalid path: does not refer to a valid field")
            continue
        if path.split(".")[1] == "metadata":
            yield invalid(where, path, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            what = "Enum string fields and strings with formats are allowed."
            yield invalid(where, path, f"must point to a field of type string, boolean or integer. {what}")
        if path in seen:
            yield duplicate(where, path)
        seen.add(path)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many("", len(seen), _MOST_SELECTABLE)


_SIMPLE_PATH = "must be a simple json path starting with ."
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


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
        yield invalid(".JSONPath", source, _SIMPLE_PATH)


def _conversion_errors(conversion: Obj | None) -> Iterator[FieldError]:
    if conversion is None:
        return
    path, strategy = "spec.conversion", str(conversion.get("strategy") or "")
    webhook = conversion.get("webhook") or {}
    config, client = webhook.get("clientConfig"), f"{path}.webhookClientConfig"
    reviews, where = webhook.get("conversionReviewVersions") or [], f"{path}.conversionReviewVersions"
    yield from inside(f"{path}.strategy", one_of("None", "Webhook")(strategy))
    if strategy != "Webhook":
        why = "should not be set when strategy is not set to Webhook"
        if config is not None:
            yield forbidden(client, why)
        if reviews:
            yield forbidden(where, why)
        return
    if config is None:
        yield required(client, "required when strategy is set to Webhook")
    elif (config.get("url") is None) == (config.get("service") is None):
        yield required(client, "exactly one of url or service is required")
    if not reviews:
        yield required(where)
    elif not {"v1", "v1beta1"} & {*reviews}:
        yield invalid(where, reviews, "must include at least one of v1, v1beta1")


def _stored_errors(obj: Obj) -> Iterator[FieldError]:
    """Yield the errors of storage versions that are not noted as such, and of noted ones that are gone."""
    stored, versions = list(at(obj, "status.storedVersions") or []), versions_of(obj)
    if not stored:
        yield invalid("status.storedVersions", None, "must have at least one stored version")
        return
    left = {name: index for index, name in enumerate(stored)}
    for version in versions:
        name = version.get("name") or ""
        if version.get("storage") and name not in left:
            yield invalid("status.storedVersions", stored, f"must have the storage version {name}")
        left.pop(name, None)
    for name, index in left.items():
        until = f"no data remains persisted in {name} and removes {name} from status.storedVersions"
        why = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in "
            f"spec.versions until a storage migration ensures {until}"
        )
        yield invalid(f"status.storedVersions[{index}]", name, why)


def _of_all_versions(versions: list[Obj], given: Any) -> Iterator[FieldError]:
    """Yield the errors of versions together: equal names, and not one that is stored. `given` may be null."""
    names = [str(version.get("name") or "") for version in versions]
    if len(set(names)) != len(names):
        yield invalid("spec.versions", _shown(versions), "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid("spec.versions", _shown(versions) if given is not None else None, ONE_STORAGE)
    if names[:1] and names[0] and (fault := _fault(names[0])):  # the internal type has it once more
        yield invalid("spec.version", names[0], fault)


# Members of a version that stay with it.
_MEMBERS = {
    "name": "",
    **dict.fromkeys(("served", "storage", "deprecated"), False),
    "deprecationWarning": None,
}


def _shown(versions: list[Obj]) -> list[Obj]:
    """Return versions as upstream's errors show the internal type, but those that differ as they are."""
    if any(v.get(name) != versions[0].get(name) for v in versions for name in _MOVED):
        return versions
    whole = ({**_MEMBERS, **version, **dict.fromkeys(_MOVED)} for version in versions)
    return [{name[0].upper() + name[1:]: one[name] for name in (*_MEMBERS, *_MOVED)} for one in whole]


def _name_errors(names: Obj) -> Iterator[FieldError]:
    """Yield the errors of names that are there; a kind may have capitals."""
    for member in ("plural", "singular", "kind", "listKind"):
        name = str(names.get(member) or "")
        mixed = member in ("kind", "listKind")
        if name and (fault := _fault(name.lower() if mixed else name)):
            may = "may have mixed case, but should otherwise match: " if mixed else ""
            yield invalid(f".{member}", name, f"{may}{fault}")
    yield from _label_errors(names, "shortNames")
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield invalid(".listKind", names["listKind"], "kind and listKind may not be the same")
    yield from _label_errors(names, "categories")


def _label_errors(names: Obj, member: str) -> Iterator[FieldError]:
    for index, name in enumerate(names.get(member) or []):
        if fault := _fault(str(name)):
            yield invalid(f".{member}[{index}]", name, fault)
