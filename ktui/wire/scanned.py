"""The result of a scan, and texts shared by many objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from ktui.wire.jsontext import utf8
from ktui.wire.pb import walk

if TYPE_CHECKING:
    from ktui.kube.resources import Resource

Path = tuple[str, ...]

_ELSEWHERE: dict[tuple[str, str], tuple[Path, ...]] = {
    ("Pod", "spec.host"): (("spec", "nodeName"),),
    ("Pod", "status.podIP"): (("status", "podIPs", "ip"),),
    ("Pod", "status.podIPs"): (),
    ("Job", "status.successful"): (("status", "succeeded"),),
    ("Event", "source"): (("source", "component"), ("reportingComponent",)),
    ("Event", "reportingController"): (("reportingComponent",),),
}
"""(kind, selector) → the paths to try in order; without paths the selector never has a value.

Most selectors are themselves the JSON path of their value. These are the others, from `ToSelectableFields` of
each registry in kube-apiserver 1.36. A repeated field in a path means its first element.
"""


@dataclass(frozen=True, slots=True)
class Selectable:
    """The field selectors of a resource, each with the paths of its value."""

    paths: dict[str, tuple[Path, ...]]

    def all_paths(self) -> list[Path]:
        """Return every path once."""
        return list(dict.fromkeys(path for paths in self.paths.values() for path in paths))


def selectable_of(resource: Resource) -> Selectable:
    """Return the field selectors of a resource, always with metadata.name and metadata.namespace."""
    names = dict.fromkeys(("metadata.name", "metadata.namespace", *resource.field_selectors))
    return Selectable({name: _paths(resource, name) for name in names})


def _paths(resource: Resource, name: str) -> tuple[Path, ...]:
    special = None if resource.custom else _ELSEWHERE.get((resource.kind, name))
    if special is not None:
        return special
    parts = tuple(name.lstrip(".").split("."))
    if resource.kind == "Event" and not resource.custom and parts[0] == "regarding":
        # Stored as a core v1 Event, whichever group serves it.
        parts = ("involvedObject", *parts[1:])
    return (parts,)


def combined(values: dict[Path, str], selectable: Selectable) -> dict[str, str]:
    """Return each field selector's first non-empty value."""
    fields = {}
    for name, paths in selectable.paths.items():
        fields[name] = next((value for path in paths if (value := values.get(path, ""))), "")
    return fields


def as_selected(value: object) -> str:
    """Return a JSON value as text for field selectors; "" for objects and arrays."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


_MOST = 20_000


class Scanned(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An object's fields that filters need. Objects with equal labels share one dict: never change it."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    fields: dict[str, str]


class SharedStrings(dict[bytes, str]):
    """A cache for texts of few values in many objects: node names, phases, namespaces."""

    def __missing__(self, encoded: bytes) -> str:
        if len(self) > _MOST:
            self.clear()
        text = self[encoded] = utf8(encoded)
        return text


class SharedLabels(dict[bytes, dict[str, str]]):
    """A cache for label sets, which the pods of a ReplicaSet share: encoded entries → one dict."""

    def __missing__(self, run: bytes) -> dict[str, str]:
        if len(self) > _MOST:
            self.clear()
        labels = self[run] = dict(_entry(entry) for _, _, entry in walk(run) if isinstance(entry, bytes))
        return labels


def _entry(encoded: bytes) -> tuple[str, str]:
    parts = {number: part for number, _, part in walk(encoded) if isinstance(part, bytes)}
    return utf8(parts.get(1, b"")), utf8(parts.get(2, b""))
