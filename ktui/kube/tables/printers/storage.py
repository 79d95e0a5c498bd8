"""Printers of volumes, claims, classes and CSI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ktui.kube.tables.object_fields import NONE, UNSET, Obj, deleting, dig, items, joined, size
from ktui.kube.tables.printers.core import born, paths

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def access_modes(modes: Iterable[str]) -> str:
    """Return the short names of access modes, `RWO,ROX,RWX,RWOP`, in this order and without duplicates."""
    wanted = set(modes)
    return ",".join(short for mode, short in _MODES.items() if mode in wanted)


def _storage_class(obj: Obj) -> str:
    annotations = dig(obj, "metadata.annotations", {})
    if _CLASS_ANNOTATION in annotations:
        return str(annotations[_CLASS_ANNOTATION])
    return str(dig(obj, "spec.storageClassName", ""))


def _phase(obj: Obj) -> str:
    return "Terminating" if deleting(obj) else str(dig(obj, "status.phase", ""))


def persistentvolumes(obj: Obj) -> list[Any]:
    claim = dig(obj, "spec.claimRef")
    return [
        str(dig(obj, "spec.capacity.storage", "0")),
        access_modes(items(obj, "spec.accessModes")),
        dig(obj, "spec.persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _storage_class(obj),
        dig(obj, "spec.volumeAttributesClassName") or UNSET,
        dig(obj, "status.reason", ""),
        born(obj),
        dig(obj, "spec.volumeMode") or UNSET,
    ]


def persistentvolumeclaims(obj: Obj) -> list[Any]:
    volume = dig(obj, "spec.volumeName", "")
    return [
        _phase(obj),
        volume,
        str(dig(obj, "status.capacity.storage", "0")) if volume else "",
        access_modes(items(obj, "status.accessModes")) if volume else "",
        _storage_class(obj),
        dig(obj, "spec.volumeAttributesClassName") or UNSET,
        born(obj),
        dig(obj, "spec.volumeMode") or UNSET,
    ]


def csidrivers(obj: Obj) -> list[Any]:
    tokens = dig(obj, "spec.tokenRequests")
    return [
        dig(obj, "spec.attachRequired", True),
        dig(obj, "spec.podInfoOnMount", False),
        dig(obj, "spec.storageCapacity", False),
        UNSET if tokens is None else joined(tokens, "audience"),
        dig(obj, "spec.requiresRepublish", False),
        ",".join(items(obj, "spec.volumeLifecycleModes")) or NONE,
        born(obj),
    ]


def csinodes(obj: Obj) -> list[Any]:
    return [size(obj, "spec.drivers"), born(obj)]


PRINTERS = {
    "persistentvolumes": persistentvolumes,
    "persistentvolumeclaims": persistentvolumeclaims,
    "storageclasses.storage.k8s.io": paths(
        "provisioner",
        ("reclaimPolicy", "Delete"),
        ("volumeBindingMode", "Immediate"),
        ("allowVolumeExpansion", False),
    ),
    "volumeattachments.storage.k8s.io": paths(
        "spec.attacher", "spec.source.persistentVolumeName", "spec.nodeName", ("status.attached", False)
    ),
    "volumeattributesclasses.storage.k8s.io": paths("driverName"),
    "csidrivers.storage.k8s.io": csidrivers,
    "csinodes.storage.k8s.io": csinodes,
}
