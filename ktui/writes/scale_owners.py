"""Who owns the number of replicas: managedFields of a workload as those of its Scale, and back.

Upstream: ScaleHandler of apimachinery/pkg/util/managedfields, 1.36.
"""

from __future__ import annotations

from typing import Any

from ktui.kube.json_trees import Obj
from ktui.kube.scale import ScalePaths, owns_replicas
from ktui.writes.managedfields.entries import entry_order, store_entries
from ktui.writes.managedfields.fieldset import difference
from ktui.writes.objectmeta import metadata_of

API_VERSION = "autoscaling/v1"
_IN_SCALE: Obj = {"f:spec": {"f:replicas": {}}}


def to_scale(obj: Obj, scale: Obj, paths: ScalePaths) -> Obj:
    """Return a Scale with an entry for each one of the object that has the replicas."""
    entries = metadata_of(obj).get("managedFields") or ()
    own = [
        {**entry, "apiVersion": API_VERSION, "fieldsV1": _IN_SCALE}
        for entry in entries
        if owns_replicas(entry, paths)
    ]
    return {**scale, "metadata": {**scale["metadata"], "managedFields": own}} if own else scale


def to_parent(obj: Obj, scale: Obj, paths: ScalePaths, api_version: str) -> None:
    """Set the object's entries by those of its changed Scale: who owns the replicas now, and who did."""
    wanted = {_identity(entry): entry for entry in metadata_of(scale).get("managedFields") or ()}
    replicas, kept = _fields(paths), []
    for entry in metadata_of(obj).get("managedFields") or ():
        found = wanted.pop(_identity(entry), None)
        if found is None and owns_replicas(entry, paths):
            entry = {**entry, "fieldsV1": difference(entry["fieldsV1"], replicas)}
        if entry.get("fieldsV1"):
            kept.append(entry)
    kept += [{**entry, "apiVersion": api_version, "fieldsV1": replicas} for entry in wanted.values()]
    store_entries(obj, sorted(kept, key=entry_order))


def _identity(entry: Obj) -> tuple[Any, ...]:
    return tuple(entry.get(name, "") for name in ("manager", "operation", "subresource"))


def _fields(paths: ScalePaths) -> Obj:
    fields: Obj = {}
    for name in reversed(paths.replicas.removeprefix(".").split(".")):
        fields = {f"f:{name}": fields}
    return fields
