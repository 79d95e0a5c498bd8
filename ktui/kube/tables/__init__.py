"""Server-side printing: the columns and cells of `kubectl get` (meta.k8s.io/v1 Table).

Columns and cells are those of kube-apiserver 1.36, whichever minor is selected.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ktui.kube.resources import Resource
from ktui.kube.tables.age import human_duration
from ktui.kube.tables.cells import built_in_cells
from ktui.kube.tables.columns import definitions
from ktui.kube.tables.custom import custom_cells
from ktui.kube.tables.fields import Obj, dig

__all__ = ["human_duration", "table_columns", "table_row_cells", "table_row_conditions"]

_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def table_columns(resource: Resource) -> list[dict[str, Any]]:
    """`columnDefinitions`: name, type, format, description, priority of each column."""
    return list(definitions(resource))


def table_row_cells(resource: Resource, obj: Obj, now: datetime) -> list[Any]:
    """The cells of one row, in the order of the columns. `obj` is the object's JSON in a served version."""
    seconds = now.timestamp()
    return custom_cells(resource, obj, seconds) if resource.custom else built_in_cells(resource, obj, seconds)


def table_row_conditions(resource: Resource, obj: Obj) -> list[dict[str, str]]:
    """`conditions` of one row: `Completed` for a pod that has ended; [] otherwise."""
    phase = dig(obj, "status.phase", "") if resource.id == "pods" else ""
    if phase not in _COMPLETED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]
