"""Custom resources against their structural schema: defaults, and pruning of what it does not name."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.objects.trees import copied

Schema = dict[str, Any]


def apply_defaults(value: Any, schema: Schema) -> None:
    """Set `default` where a property is missing, all the way down, in place."""
    properties = schema.get("properties") or {}
    if isinstance(value, dict):
        for name, sub in properties.items():
            if name not in value and "default" in sub:
                value[name] = copied(sub["default"])
            if name in value:
                apply_defaults(value[name], sub)
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            for name in value.keys() - properties.keys():
                apply_defaults(value[name], additional)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            apply_defaults(item, schema["items"])


def prune(value: Any, schema: Schema, path: str = "") -> list[str]:
    """Remove what the schema does not name, unless it preserves unknown fields; the paths removed."""
    gone: list[str] = []
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("additionalProperties")
        if not open_ended and not schema.get("x-kubernetes-embedded-resource"):
            for name in [name for name in value if name not in properties]:
                del value[name]
                gone.append(_join(path, name))
        for name, sub in properties.items():
            if name in value:
                gone += prune(value[name], sub, _join(path, name))
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            for name in value.keys() - properties.keys():
                gone += prune(value[name], additional, _join(path, name))
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, item in enumerate(value):
            gone += prune(item, schema["items"], f"{path}[{at}]")
    return gone


def prune_object(obj: dict[str, Any], schema: Schema) -> list[str]:
    """Prune a whole object; apiVersion, kind and metadata are never pruned."""
    kept: dict[str, Any] = {name: obj[name] for name in ("apiVersion", "kind", "metadata") if name in obj}
    gone = prune(obj, schema)
    obj.update(kept)
    return [path for path in gone if path not in kept]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def schema_of(crd: dict[str, Any], version: str) -> Schema:
    """The schema of a served version; empty (nothing pruned) when it has none."""
    for served in (crd.get("spec") or {}).get("versions") or []:
        if served.get("name") == version:
            schema = (served.get("schema") or {}).get("openAPIV3Schema")
            if isinstance(schema, dict) and schema:
                return schema
    return {"x-kubernetes-preserve-unknown-fields": True}
