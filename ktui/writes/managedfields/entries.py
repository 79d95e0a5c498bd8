"""Maintain metadata.managedFields as kube-apiserver does on create, update and patch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec.json

from ktui.kube.fielderrors import within_limit
from ktui.kube.json_trees import Obj, without_nulls
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.structural.schema import ANYTHING
from ktui.wire.codec import codec_for, encode_object
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.schema import JSON_ZERO_VALUES, message_of
from ktui.writes.managedfields.fieldset import (
    Changes,
    FieldSet,
    compare,
    difference,
    ordered,
    parsed,
    union,
)
from ktui.writes.managedfields.nodes import SchemaNode, root_of
from ktui.writes.managedfields.typed_config import misfits, sentence
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.strategies import KEPT_METADATA, reset_fields


def _empty_object(resource: Resource) -> Obj:
    """Return the JSON of a type's zero value in Go, whose members a creation does not own."""
    return {} if resource.custom else _empty_builtin(resource)


@cache
def _empty_builtin(resource: Resource) -> Obj:
    if resource.encoding != "protobuf":
        return JSON_ZERO_VALUES.get(resource.kind, {})
    message = message_of(resource.api_version, resource.kind)
    assert message is not None
    # Not by way of the storage version: an autoscaling/v1 object without a target would get v2's.
    raw = envelope_of(resource.api_version, resource.kind, encode_message(message, {}))
    empty: Obj = msgspec.json.decode(codec_for().object_json(raw, None, resource.api_version))
    return empty


def owned(fields: FieldSet, resource: Resource, subresource: str) -> FieldSet:
    """Return the fields without those that the resource or the subresource resets."""
    for path in reset_fields(resource, subresource):
        fields = _unset(fields, path)
    return fields


def effective(config: Obj, resource: Resource, subresource: str) -> Obj:
    """Return a configuration without the members that the resource or the subresource resets."""
    for path in reset_fields(resource, subresource):
        whole = path == ("metadata",)
        for each in ((*path, name) for name in KEPT_METADATA) if whole else (path,):
            config = _cut(config, each)
    return config


def _cut(obj: Obj, path: tuple[str, ...]) -> Obj:
    name, below = path[0], path[1:]
    if not below or not isinstance(obj.get(name), dict):
        return {key: value for key, value in obj.items() if key != name or below}
    return {**obj, name: _cut(obj[name], below)}


def _unset(fields: FieldSet, path: tuple[str, ...]) -> FieldSet:
    """Return the fields without a path and what is below it."""
    key, below = f"f:{path[0]}", path[1:]
    if key not in fields or (below and not fields[key]):  # an empty object has an owner itself
        return fields
    left = _unset(fields[key], below) if below else {}
    return {name: left if name == key else part for name, part in fields.items() if name != key or left}


@dataclass(frozen=True, slots=True)
class MisfitError(Exception):
    """The "old" or "new" custom object does not fit the version in which a manager's fields are."""

    which: str
    api_version: str
    faults: str


class VersionedChanges:
    """What a write changes, in each version in which fields are owned (upstream: Updater.update).

    `old` None: the object is created. A custom object is read by the schema of a manager's version, one of a
    built-in kind is converted to it.
    """

    def __init__(self, old: Obj | None, new: Obj, resource: Resource) -> None:
        self._old, self._new, self._resource = old, new, resource
        self._found: dict[str, Changes | None] = {}
        self._taken: dict[str, FieldSet | None] = {}

    def changes(self, api_version: str) -> Changes | None:
        """Return the changes in a version; None if the resource has no such version. Raises MisfitError."""
        if api_version not in self._found:
            self._found[api_version] = self._compared(api_version)
        return self._found[api_version]

    def changed(self, entry: Obj) -> FieldSet | None:
        """Return the paths that are new, changed or removed, in an entry's version; None as `changes`."""
        api_version = entry.get("apiVersion") or ""
        if api_version not in self._taken:
            changes = self.changes(api_version)
            taken = None if changes is None else union(changes.set, changes.removed)
            self._taken[api_version] = taken
        return self._taken[api_version]

    def _compared(self, api_version: str) -> Changes | None:
        old, new, resource = self._old, self._new, self._resource
        base = old if old is not None else _empty_object(resource)
        version = api_version.rpartition("/")[2]
        if not resource.custom:
            if message_of(api_version, resource.kind) is None:
                return None
            other = BUILTIN.find(resource.group, version, resource.resource) or resource
            if other.api_version == resource.api_version:
                return compare(base, new, root_of(resource))
            before, after = (_converted(obj, resource, other) for obj in (base, new))
            return compare(before, after, root_of(other))
        schemas = resource.schemas
        if schemas and version not in schemas:
            return None
        schema = schemas.get(version, ANYTHING)
        for which, obj in (("old", base), ("new", new)) if old is not None else ():
            if faults := [*within_limit(misfits(obj, schema, duplicates=version == resource.version))]:
                raise MisfitError(which, api_version, sentence(faults))
        return compare(base, new, SchemaNode(schema, root=True))


def _converted(obj: Obj, resource: Resource, other: Resource) -> Obj:
    """Return an object of a built-in kind in another version of it, without members that are null."""
    raw = encode_object(without_nulls(obj), resource)
    found: Obj = msgspec.json.decode(codec_for().object_json(raw, None, other.api_version))
    return found


def give_up(entry: Obj, taken: FieldSet | None) -> None:
    """Take paths from a manager; all if `taken` is None."""
    fields = entry.get("fieldsV1") or {}
    left = {} if taken is None else difference(fields, taken)
    entry["fieldsV1"] = fields if left == fields else ordered(left)  # as stored: in order already


def track_update(
    old: Obj | None, new: Obj, *, manager: str, time: str, resource: Resource, subresource: str = ""
) -> None:
    """Set `new`'s managedFields to their state after `manager` changed `old` (None: created) to it.

    `time` "" leaves the entry without a time, as upstream's scale does. The client may change managedFields
    by sending others, or reset them by sending an empty list; an object without any gets none until the first
    apply. Entries in a version of another group (an Event written through events.k8s.io) are dropped, as
    upstream drops what it cannot convert. All are dropped if a custom object does not fit one of the versions
    that its managers used (upstream: UpdateNoErrors).
    """
    api_version = resource.api_version
    starting = distinct(_starting_entries(old, new, custom=resource.custom, subresource=subresource))
    if old is not None and not starting:
        store_entries(new, [])  # tracking has not begun
        return
    entries = [e for e in starting if group_of(e.get("apiVersion", "")) == group_of(api_version)]
    comparison = VersionedChanges(old, new, resource)
    own = own_entry(entries, "Update", manager, subresource, api_version)
    try:
        changes = comparison.changes(api_version) or Changes()
        changes.set, changes.removed = (
            owned(fields, resource, subresource) for fields in (changes.set, changes.removed)
        )
        for entry in entries:
            taken = changes.removed if entry is own else comparison.changed(entry)
            give_up(entry, taken and owned(taken, resource, subresource))
    except MisfitError:
        store_entries(new, [])
        return
    if changes.set:
        if own is None:
            own = new_entry("Update", manager, subresource, api_version, {})
            entries.append(own)
        own["fieldsV1"] = ordered(union(own["fieldsV1"], changes.set))
    if own is not None and time and (changes.set or changes.removed):
        own["time"] = time
    kept = [entry for entry in entries if entry["fieldsV1"]]
    store_entries(new, sorted(kept, key=entry_order))


def tracked(old: Obj, new: Obj, manager: str, resource: Resource, subresource: str = "") -> Obj:
    """Return `new`, with metadata of its own, as `manager` writes it now in place of `old`."""
    new = {**new, "metadata": dict(new["metadata"])}
    track_update(old, new, manager=manager, time=timestamp(), resource=resource, subresource=subresource)
    return new


def _starting_entries(old: Obj | None, new: Obj, *, custom: bool, subresource: str) -> list[Obj]:
    """Return the client's entries if they are allowed and valid, else the stored ones."""
    sent = (new.get("metadata") or {}).get("managedFields")
    stored = ((old or {}).get("metadata") or {}).get("managedFields") or []
    if not subresource and isinstance(sent, list):
        # For a custom resource an empty list is the same as none.
        if sent == [{}] or not (sent or custom):
            return []
        if sent and sent != stored:
            try:
                return [*map(_read, sent)]
            except (ValueError, RecursionError):
                pass  # a client that does not understand them does not lose them
    return [dict(entry) for entry in stored]


def _read(entry: Any) -> Obj:
    """Return an entry that a client sent; raise ValueError if upstream cannot decode it."""
    if not isinstance(entry, dict) or entry.get("operation") not in ("Apply", "Update"):
        raise ValueError("an entry has an operation")
    if not entry.get("apiVersion") or entry.get("fieldsType") != "FieldsV1":
        raise ValueError("an entry has a version and fields")
    return {**entry, "fieldsV1": parsed(entry.get("fieldsV1"))}


def keep_times(old: Obj, new: Obj) -> None:
    """Keep the managers' times if nothing else changes (upstream: IgnoreManagedFieldsTimestampsTransformer).

    `old` has a resourceVersion, `new` has none.
    """
    was, now = (metadata_of(obj).get("managedFields") or [] for obj in (old, new))
    if was == now or [*map(_timeless, was)] != [*map(_timeless, now)]:
        return
    before, after = ({**obj, "metadata": _without(metadata_of(obj), _NOT_COMPARED)} for obj in (old, new))
    if before == after:
        metadata_of(new)["managedFields"] = was


_NOT_COMPARED = ("managedFields", "resourceVersion")


def _timeless(entry: Obj) -> Obj:
    return _without(entry, ("time",))


def _without(obj: Obj, names: Sequence[str]) -> Obj:
    return {name: value for name, value in obj.items() if name not in names}


def distinct(entries: Iterable[Obj]) -> list[Obj]:
    """Return the last entry of each manager: a scaling may have left two of one (DecodeManagedFields)."""
    return [*{identity(entry): entry for entry in entries}.values()]


def identity(entry: Obj) -> tuple[str, ...]:
    """Return what tells one manager from another; an applier is the same one in every version."""
    members = ("manager", "operation", "subresource")
    version = "" if entry.get("operation") == "Apply" else "apiVersion"
    return tuple(str(entry.get(name) or "") for name in (*members, version))


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def own_entry(
    entries: list[Obj], operation: str, manager: str, subresource: str, api_version: str = ""
) -> Obj | None:
    """Return a manager's entry; an applier is the same manager in every version (`api_version` "")."""
    wanted = (operation, manager, subresource, api_version)
    for entry in entries:
        identity = (entry.get("operation"), entry.get("manager"), entry.get("subresource", ""))
        if (*identity, entry.get("apiVersion") if api_version else "") == wanted:
            return entry
    return None


def new_entry(operation: str, manager: str, subresource: str, api_version: str, fields: FieldSet) -> Obj:
    entry: Obj = {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**entry, "subresource": subresource} if subresource else entry


def entry_order(entry: Obj) -> tuple[Any, ...]:
    members = ("operation", "time", "manager", "apiVersion", "subresource")
    return tuple(entry.get(name, "") for name in members)


def store_entries(obj: Obj, entries: list[Obj]) -> None:
    metadata = obj.setdefault("metadata", {})
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)
