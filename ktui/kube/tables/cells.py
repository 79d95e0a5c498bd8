"""Table cells of built-in kinds: the name, then the cells of the kind's printer."""

from __future__ import annotations

from typing import Any

from ktui.kube.resources import Resource
from ktui.kube.tables.fields import Obj, dig
from ktui.kube.tables.printers import PRINTERS

_DEFAULT_ANNOTATIONS = {
    "storageclasses.storage.k8s.io": "storageclass.kubernetes.io/is-default-class",
    "ingressclasses.networking.k8s.io": "ingressclass.kubernetes.io/is-default-class",
}


def built_in_cells(resource: Resource, obj: Obj) -> list[Any]:
    """Return the cells in the order of the columns; name and creation time for kinds without a printer."""
    printer = PRINTERS.get(resource.id)
    name = dig(obj, "metadata.name", "")
    if printer is None:
        return [name, dig(obj, "metadata.creationTimestamp")]
    cells = printer(obj)
    if resource.resource == "events":  # the one kind whose name comes last
        return cells
    return [_marked_default(resource, obj, name), *cells]


def _marked_default(resource: Resource, obj: Obj, name: str) -> str:
    annotation = _DEFAULT_ANNOTATIONS.get(resource.id)
    chosen = annotation and dig(obj, "metadata.annotations", {}).get(annotation) == "true"
    return f"{name} (default)" if chosen else name
