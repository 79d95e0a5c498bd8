"""Find fields that the type of an object does not have: what kube-apiserver's strict decoding reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ktui.kube.field_paths import Path, joined, within_limit
from ktui.wire.schema import SchemaField, fields_by_name, message_of

_TYPE_META = ("apiVersion", "kind")
# Kinds that are members of others, with their type: claim templates.
_WHOLE = frozenset({"core.v1.PersistentVolumeClaim"})


def unknown_fields(obj: Mapping[str, Any], api_version: str, kind: str, release: int | None) -> list[str]:
    """Return the paths of unknown fields, in the object's order: `["spec.nope", "spec.containers[0].x"]`.

    The value does not matter: empty and null fields are reported too. Kubernetes 1.`release` determines the
    known fields (None: those of all releases). An object of a kind without a message has no unknown fields.
    Paths after the first MOST_CHARACTERS are left out.
    """
    message = message_of(api_version, kind)
    if message is None:
        return []
    own = {name: value for name, value in obj.items() if name not in _TYPE_META}
    return [*within_limit(joined(path)[1:] for path in _of_struct(message, own, None, release))]


def _of_struct(
    message: str, obj: Mapping[str, Any], path: Path | None, release: int | None
) -> Iterator[Path]:
    known = fields_by_name(message, release)
    for name, value in obj.items():
        at = path, f".{name}"
        field = known.get(name)
        if field is None:
            if name not in _TYPE_META or message not in _WHOLE:
                yield at
        elif field.kind == "message":
            yield from _of_value(field, value, at, release)


def _of_value(field: SchemaField, value: Any, path: Path, release: int | None) -> Iterator[Path]:
    items: list[tuple[Path, Any]]
    if not field.repeated:
        items = [(path, value)]
    elif field.is_map:
        items = [((path, f".{key}"), item) for key, item in value.items()] if isinstance(value, dict) else []
    else:
        items = [((path, f"[{n}]"), item) for n, item in enumerate(value)] if isinstance(value, list) else []
    for at, item in items:
        if isinstance(item, dict):
            yield from _of_struct(field.type, item, at, release)
