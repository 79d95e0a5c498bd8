"""Maintain metadata.managedFields as kube-apiserver does on create, update and patch."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec.json

from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.wire.codec import codec_for
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.schema import JSON_ZERO_VALUES, message_of
from ktui.writes.managedfields.fieldset import FieldSet, compare, difference, ordered, union
from ktui.writes.managedfields.nodes import root_of
from ktui.writes.objectmeta import timestamp
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
        fields = _without(fields, path)
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


def _without(fields: FieldSet, path: tuple[str, ...]) -> FieldSet:
    """Return the fields without a path and what is below it."""
    key, below = f"f:{path[0]}", path[1:]
    if key not in fields:
        return fields
    left = _without(fields[key], below) if below else {}
    return {name: left if name == key else part for name, part in fields.items() if name != key or left}


def track_update(
    old: Obj | None, new: Obj, *, manager: str, time: str, resource: Resource, subresource: str = ""
) -> None:
    """Set `new`'s managedFields to their state after `manager` changed `old` (None: created) to it.

    `time` "" leaves the entry without a time, as upstream's scale does. The client may change managedFields
    by sending others, or reset them by sending an empty list; an object without any gets none until the first
    apply. Entries in a version of another group (an Event written through events.k8s.io) are dropped, as
    upstream drops what it cannot convert.
    """
    api_version = resource.api_version
    starting = _starting_entries(old, new, custom=resource.custom, subresource=subresource)
    if old is not None and not starting:
        store_entries(new, [])  # tracking has not begun
        return
    entries = [e for e in starting if group_of(e.get("apiVersion", "")) == group_of(api_version)]
    base = old if old is not None else _empty_object(resource)
    changes = compare(base, new, root_of(resource))
    changes.set = owned(changes.set, resource, subresource)
    own = own_entry(entries, "Update", manager, subresource, api_version)
    changed = union(changes.set, changes.removed)
    for entry in entries:
        taken = changes.removed if entry is own else changed
        fields = entry.get("fieldsV1") or {}
        left = difference(fields, taken)
        entry["fieldsV1"] = fields if left == fields else ordered(left)  # as stored: in order already
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
        if sent and all(map(_readable, sent)):
            stored = sent
    return [dict(entry) for entry in stored]


def _readable(entry: Any) -> bool:
    if not isinstance(entry, dict) or entry.get("operation") not in ("Apply", "Update"):
        return False
    known = bool(entry.get("apiVersion")) and entry.get("fieldsType") == "FieldsV1"
    return known and isinstance(entry.get("fieldsV1") or {}, dict)


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
