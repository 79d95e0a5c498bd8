"""Column definitions of a Table (meta.k8s.io/v1)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ktui.kube.resources import Resource, TableColumn
from ktui.kube.tables.printers import PRINTERS

# Kinds without a printer: the name, and the creation time as a timestamp.
_NAME = TableColumn("Name", format="name")
DEFAULT_COLUMNS = (_NAME, TableColumn("Created At", type="date"))


@lru_cache(maxsize=256)
def definitions(resource: Resource) -> tuple[dict[str, Any], ...]:
    """Return a dict per column: name, type, format, description, priority."""
    if resource.custom:
        return (_definition(_NAME), *map(_definition, resource.columns))
    columns = resource.columns if resource.id in PRINTERS else DEFAULT_COLUMNS
    return tuple(_definition(_described(resource, column)) for column in columns)


def _definition(column: TableColumn) -> dict[str, Any]:
    texts = _texts()
    common = {"Name": texts["name"], "Age": texts["born"], "Created At": texts["born"]}
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description or common.get(column.name, ""),
        "priority": column.priority,
    }


def _described(resource: Resource, column: TableColumn) -> TableColumn:
    """Return the column with upstream's description; the table of built-in resources has only names."""
    if column.name == "Name":
        return replace(column, format="name")
    if column.name == "Created At":
        return replace(column, type="date")
    kind, description = _texts()["columns"].get(resource.id, {}).get(column.name, ("string", ""))
    return replace(column, type=kind, description=description)


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    from importlib.resources import files  # start-up time

    data = files("ktui.kube").joinpath("data", "columns.json").read_bytes()
    loaded: dict[str, Any] = json.loads(data)
    return loaded
