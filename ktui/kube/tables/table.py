"""Server-side printing: the columns and cells of `kubectl get` (meta.k8s.io/v1 Table).

Columns and cells are those of kube-apiserver 1.36, whichever minor is selected.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from ktui.kube.golang.formatting import escaped, to_json
from ktui.kube.resources import Resource, TableColumn
from ktui.kube.tables.jsonpath import first
from ktui.kube.tables.object_fields import Age, Obj, age, dig, human_duration, steady_until
from ktui.kube.tables.printers import cluster, core, workloads

# By resource id. The cells do not include the name, which nearly all kinds print the same way.
PRINTERS = core.PRINTERS | workloads.PRINTERS | cluster.PRINTERS
_DEFAULT_ANNOTATIONS = {
    "storageclasses.storage.k8s.io": "storageclass.kubernetes.io/is-default-class",
    "ingressclasses.networking.k8s.io": "ingressclass.kubernetes.io/is-default-class",
}


def _cells(resource: Resource, obj: Obj) -> list[Any]:
    """Return the cells in the order of the columns; name and creation time for kinds without a printer.

    Cells that change with time are of the type Age. A cell of a custom resource without such a value is None.
    """
    printer = PRINTERS.get(resource.id)
    name = dig(obj, "metadata.name", "")
    if resource.custom:
        return [name, *(_cell(column, obj) for column in resource.columns)]
    if printer is None:
        return [name, dig(obj, "metadata.creationTimestamp", "0001-01-01T00:00:00Z")]  # Go's zero time
    cells = printer(obj)
    if resource.resource == "events":  # the one kind whose name comes last
        return cells
    annotation = _DEFAULT_ANNOTATIONS.get(resource.id)
    chosen = annotation and dig(obj, "metadata.annotations", {}).get(annotation) == "true"
    return [f"{name} (default)" if chosen else name, *cells]


# Kinds without a printer: the name, and the creation time as a timestamp.
_NAME = TableColumn("Name", format="name")
DEFAULT_COLUMNS = (_NAME, TableColumn("Created At", type="date"))


@lru_cache(maxsize=256)
def table_columns(resource: Resource) -> list[dict[str, Any]]:
    """Return `columnDefinitions`: name, type, format, description and priority. Never change them."""
    if resource.custom:
        return [_definition(_NAME), *map(_definition, resource.columns)]
    if resource.id not in PRINTERS:
        return [*map(_definition, DEFAULT_COLUMNS)]
    return [_definition(_described(resource, column)) for column in resource.columns]


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
    kind, description, *form = _texts()["columns"].get(resource.id, {}).get(column.name, ("string", ""))
    return replace(column, type=kind, description=description, format="".join(form))


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    from importlib.resources import files  # start-up time

    data = files("ktui.kube").joinpath("data", "columns.json").read_bytes()
    loaded: dict[str, Any] = json.loads(data)
    return loaded


def _cell(column: TableColumn, obj: Obj) -> Any:
    value = first(column.source, obj)
    if value is None:
        return None
    match column.type:
        case "string":
            return _text(value)
        case "date":
            return age(value) if isinstance(value, str) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "integer" | "number" if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value) if column.type == "integer" else value
    return None


def _text(value: Any) -> str:
    """Format a value as Go's fmt does; maps and lists as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return escaped(text.encode("utf-8", "replace")).decode()


class TableRow(msgspec.Struct, gc=False):
    """A row without its object: pieces of JSON, and times (Unix seconds) in the places of their ages."""

    pieces: tuple[bytes | float, ...]
    _text: bytes = b""
    _made: float = math.inf  # `_text` is valid from this time (Unix seconds)
    _until: float = -math.inf  # until this time

    @property
    def size(self) -> int:
        """Bytes of its pieces, and of about as much text."""
        return 2 * sum(len(piece) for piece in self.pieces if isinstance(piece, bytes))

    def at(self, now: float) -> bytes:
        """Return the row's JSON with the ages at `now` (Unix seconds)."""
        if not self._made <= now < self._until:
            parts, until = [], math.inf
            for piece in self.pieces:
                if isinstance(piece, bytes):
                    parts.append(piece)
                else:
                    parts.append(_age_text(int(now - piece)))
                    until = min(until, steady_until(piece, now))
            self._text, self._made, self._until = b"".join(parts), now, until
        return self._text


@lru_cache(maxsize=1 << 16)
def _age_text(seconds: int) -> bytes:
    return to_json(human_duration(seconds))[1:-1]


_COMPLETED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


def table_row(resource: Resource, obj: Obj) -> TableRow:
    """Return the row of an object, valid until the object changes. `obj` is its JSON in a served version."""
    row: list[bytes | float] = []
    text, run, skipped = b'{"cells":[', list[Any](), 1
    for cell in _cells(resource, obj):
        if isinstance(cell, Age):
            row += text + to_json([*run, cell.before])[skipped:-2], cell.since
            text, run, skipped = b"", [cell.after], 2
        else:
            run.append(cell)
    conditions = table_row_conditions(resource, obj)
    extra = b',"conditions":%b' % to_json(conditions) if conditions else b""
    return TableRow((*row, b'%b%b%b,"object":' % (text, to_json(run)[skipped:], extra)))


def table_row_conditions(resource: Resource, obj: Obj) -> list[dict[str, str]]:
    """Return `conditions` of one row: `Completed` for a pod that has ended; [] otherwise."""
    phase = dig(obj, "status.phase", "") if resource.id == "pods" else ""
    if phase not in _COMPLETED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]
