"""Rules of what a claim asks for: of PersistentVolumeClaims, and of the claims that volumes and pods make."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation.values.checks import (
    Rows,
    dns_label,
    has,
    inside,
    listed,
    selector,
    subdomain,
)

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_ONLY_CLAIMS = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"


def access_modes(modes: list[str]) -> Iterator[FieldError]:
    yield from (not_supported("", str(mode), ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES)
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        yield forbidden("", "may not use ReadWriteOncePod with other access modes")


def _storage(spec: Obj) -> Iterator[FieldError]:
    requested = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if requested is None:
        yield required(".resources[storage]")
    elif amount(requested) <= 0:
        yield invalid(".resources[storage]", requested, "must be greater than zero")


def _data_source(source: Obj) -> Iterator[FieldError]:
    yield from has("name", "kind")(source)
    group, kind = source.get("apiGroup") or "", str(source.get("kind") or "")
    if not group and kind != "PersistentVolumeClaim":
        yield invalid("", kind, _ONLY_CLAIMS)
    yield from inside(".apiGroup", subdomain(group))
    yield from inside(".namespace", dns_label(source.get("namespace") or ""))


def _one_source(spec: Obj) -> Iterator[FieldError]:
    """The old and the new field agree; upstream shows a path, which has no members in JSON."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if old is None or new is None:
        return
    if new.get("namespace"):
        yield invalid("", {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(old.get(name) != new.get(name) for name in ("apiGroup", "kind", "name")):
        yield invalid("", {}, "must match dataSourceRef")


CLAIM_SPEC: Rows = (
    ("", has("accessModes", why="at least 1 access mode is required")), ("selector", selector),
    ("accessModes", access_modes), ("", _storage), ("storageClassName", subdomain),
    ("volumeMode", listed(*VOLUME_MODES)), ("dataSource", _data_source), ("dataSourceRef", _data_source),
    ("", _one_source), ("volumeAttributesClassName", subdomain),
)  # fmt: skip
