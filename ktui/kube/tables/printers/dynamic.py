"""Printers of dynamic resource allocation (resource.k8s.io)."""

from __future__ import annotations

from typing import Any

from ktui.kube.tables.age import age
from ktui.kube.tables.fields import Obj, deleting, dig, items
from ktui.kube.tables.printers.core import born, only_age


def resourceclaims(obj: Obj) -> list[Any]:
    words = ["deleted"] if deleting(obj) else []
    if dig(obj, "status.allocation") is None:
        words.append("pending")
    else:
        words.append("allocated")
        words += ["reserved"] if items(obj, "status.reservedFor") else []
    return [",".join(words), born(obj)]


def resourceslices(obj: Obj) -> list[Any]:
    return [*(dig(obj, f"spec.{path}", "") for path in ("nodeName", "driver", "pool.name")), born(obj)]


def devicetaintrules(obj: Obj) -> list[Any]:
    taint = dig(obj, "spec.taint", {})
    words = [taint.get(member, "") for member in ("key", "value", "effect")]
    return [*words, age(taint.get("timeAdded")), born(obj)]


PRINTERS = {
    "deviceclasses.resource.k8s.io": only_age,
    "resourceclaims.resource.k8s.io": resourceclaims,
    "resourceclaimtemplates.resource.k8s.io": only_age,
    "resourceslices.resource.k8s.io": resourceslices,
    "devicetaintrules.resource.k8s.io": devicetaintrules,
}
