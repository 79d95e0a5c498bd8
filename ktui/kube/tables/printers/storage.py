"""Printers of volumes, claims, classes and CSI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.kube.tables.object_fields import (
    NONE,
    UNSET,
    Cell,
    Obj,
    born,
    count,
    deleting,
    dig,
    items,
    joined,
    pair,
    row,
    text,
)

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_SHORT = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _storage_class(obj: Obj) -> str:
    annotations = dig(obj, "metadata.annotations", {})
    if _CLASS_ANNOTATION in annotations:
        return str(annotations[_CLASS_ANNOTATION])
    return str(dig(obj, "spec.storageClassName", ""))


def _phase(obj: Obj) -> str:
    return "Terminating" if deleting(obj) else str(dig(obj, "status.phase", ""))


def _modes(path: str) -> Callable[[Obj], str]:
    """Short names of access modes, in this order and without duplicates."""
    return lambda obj: ",".join(short for mode, short in _SHORT.items() if mode in items(obj, path))


def _if_bound(cell: Callable[[Obj], Any]) -> Cell:
    return lambda claim: cell(claim) if dig(claim, "spec.volumeName") else ""


def _tokens(driver: Obj) -> str:
    tokens = dig(driver, "spec.tokenRequests")
    return UNSET if tokens is None else joined(tokens, "audience")


_ATTRIBUTES, _MODE = ("spec.volumeAttributesClassName", UNSET), ("spec.volumeMode", UNSET)
PRINTERS = {
    "persistentvolumes": row(
        text("spec.capacity.storage", "0"), _modes("spec.accessModes"),
        "spec.persistentVolumeReclaimPolicy", _phase,
        pair("spec.claimRef", "namespace", "name", ""), _storage_class, _ATTRIBUTES,
        "status.reason", born, _MODE,
    ),
    "persistentvolumeclaims": row(
        _phase, "spec.volumeName", _if_bound(text("status.capacity.storage", "0")),
        _if_bound(_modes("status.accessModes")), _storage_class, _ATTRIBUTES, born, _MODE,
    ),
    "storageclasses.storage.k8s.io": row(
        "provisioner", ("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate"),
        ("allowVolumeExpansion", False), born,
    ),
    "volumeattachments.storage.k8s.io": row(
        "spec.attacher", "spec.source.persistentVolumeName", "spec.nodeName", ("status.attached", False),
        born,
    ),
    "volumeattributesclasses.storage.k8s.io": row("driverName", born),
    "csidrivers.storage.k8s.io": row(
        ("spec.attachRequired", True), ("spec.podInfoOnMount", False), ("spec.storageCapacity", False),
        _tokens, ("spec.requiresRepublish", False),
        lambda obj: ",".join(items(obj, "spec.volumeLifecycleModes")) or NONE, born,
    ),
    "csinodes.storage.k8s.io": row(count("spec.drivers"), born),
}  # fmt: skip
