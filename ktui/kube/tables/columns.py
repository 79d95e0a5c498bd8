"""columnDefinitions of a Table (meta.k8s.io/v1)."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ktui.kube.resources import Column, Resource

# Kinds without a printer of their own: the name and when it was created, as a timestamp.
DEFAULT_COLUMNS = (Column("Name"), Column("Created At", type="date"))


@lru_cache(maxsize=256)
def definitions(resource: Resource) -> tuple[dict[str, Any], ...]:
    """One dict a column: name, type, format, description, priority."""
    if resource.custom:
        return (_definition(Column("Name")), *map(_definition, resource.columns))
    return tuple(_definition(_described(resource, column)) for column in builtin_columns(resource))


def builtin_columns(resource: Resource) -> tuple[Column, ...]:
    """A built-in kind's columns; those of which nothing more is known get the default ones."""
    known = bool(resource.columns) and all(column.source for column in resource.columns)
    return resource.columns if known else DEFAULT_COLUMNS


def _definition(column: Column) -> dict[str, Any]:
    texts = _texts()
    common = {"Name": texts["name"], "Age": texts["born"], "Created At": texts["born"]}
    return {
        "name": column.name,
        "type": "date" if column.name == "Created At" else column.type,
        "format": "name" if column.name == "Name" and column.priority == 0 else column.format,
        "description": column.description or common.get(column.name, ""),
        "priority": column.priority,
    }


def _described(resource: Resource, column: Column) -> Column:
    texts = _texts()["columns"].get(resource.id, {})
    kind, description = texts.get(column.name, ("string", ""))
    return Column(column.name, column.priority, column.source, kind, column.format, description)


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    from importlib.resources import files

    data = files("ktui.kube").joinpath("data", "columns.json").read_bytes()
    loaded: dict[str, Any] = json.loads(data)
    return loaded
