"""Defaults of kinds that run nothing: claims, volumes, classes, bindings."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]

RBAC = "rbac.authorization.k8s.io"


def claim(obj: Obj) -> None:
    """A claim, or the template of one."""
    if isinstance(spec := obj.setdefault("spec", {}), dict):
        spec.setdefault("volumeMode", "Filesystem")
    if isinstance(status := obj.setdefault("status", {}), dict):
        status.setdefault("phase", "Pending")


def volume(obj: Obj) -> None:
    if isinstance(spec := obj.setdefault("spec", {}), dict):
        spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
        spec.setdefault("volumeMode", "Filesystem")
    if isinstance(status := obj.setdefault("status", {}), dict):
        status.setdefault("phase", "Pending")


def storage_class(obj: Obj) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def priority_class(obj: Obj) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def role_binding(obj: Obj) -> None:
    if isinstance(role := obj.get("roleRef"), dict) and not role.get("apiGroup"):
        role["apiGroup"] = RBAC
    for subject in obj.get("subjects") or []:
        if (
            isinstance(subject, dict)
            and subject.get("kind") in ("User", "Group")
            and not subject.get("apiGroup")
        ):
            subject["apiGroup"] = RBAC
