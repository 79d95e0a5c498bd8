"""Server-side printing: the columns and cells of `kubectl get` (meta.k8s.io/v1 Table).

Columns and cells are those of kube-apiserver 1.36, whichever minor is selected.
"""

from __future__ import annotations

from typing import Any

from ktui.kube.golang.jsonencode import to_json
from ktui.kube.resources import Resource
from ktui.kube.tables.age import Age, human_duration
from ktui.kube.tables.cells import built_in_cells
from ktui.kube.tables.columns import definitions
from ktui.kube.tables.custom import custom_cells
from ktui.kube.tables.fields import Obj, dig
from ktui.kube.tables.row import TableRow

__all__ = [
    "Age",
    "TableRow",
    "human_duration",
    "table_columns",
    "table_row",
    "table_row_conditions",
]

_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def table_columns(resource: Resource) -> list[dict[str, Any]]:
    """Return `columnDefinitions`: name, type, format, description, priority of each column."""
    return list(definitions(resource))


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


def _cells(resource: Resource, obj: Obj) -> list[Any]:
    """Return the cells in the order of the columns; cells that change with time are of the type Age."""
    return custom_cells(resource, obj) if resource.custom else built_in_cells(resource, obj)


def table_row_conditions(resource: Resource, obj: Obj) -> list[dict[str, str]]:
    """Return `conditions` of one row: `Completed` for a pod that has ended; [] otherwise."""
    phase = dig(obj, "status.phase", "") if resource.id == "pods" else ""
    if phase not in _COMPLETED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]
