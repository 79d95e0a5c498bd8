"""Server-side apply.

A manager owns the fields of its configuration, and takes none from other managers unless it is forced.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ktui.kube.fielderrors import within_limit
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource
from ktui.kube.status import StatusCause, StatusError, bare_error
from ktui.writes.managedfields.entries import (
    MisfitError,
    VersionedChanges,
    distinct,
    effective,
    entry_order,
    give_up,
    group_of,
    new_entry,
    own_entry,
    owned,
    store_entries,
    track_update,
)
from ktui.writes.managedfields.fieldset import (
    Changes,
    FieldSet,
    compare,
    difference,
    intersection,
    ordered,
    paths_of,
    union,
)
from ktui.writes.managedfields.merging import fields_of, merge_config, pruned
from ktui.writes.managedfields.nodes import Node, root_of
from ktui.writes.objectmeta import timestamp

KUBECTL = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def agreed_fields(obj: Obj, resource: Resource) -> FieldSet:
    """Return the fields that a client-side apply set and that are unchanged: kubectl may take them."""
    try:
        last = json.loads(_annotation(obj))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(last, dict) or last.get("apiVersion") != resource.api_version:
        return {}
    if not isinstance(last.get("metadata"), dict | None):
        return {}
    root = root_of(resource)
    changes = compare(last, obj, root)
    return difference(fields_of(last, root), union(changes.set, changes.removed))


def with_last_applied(obj: Obj, config: Obj) -> Obj:
    """Return the object with the configuration in its annotation, if it has that annotation."""
    if not _annotation(obj):
        return obj
    applied = dict(config.get("metadata") or {})
    if isinstance(applied.get("annotations"), dict):
        applied["annotations"] = {n: value for n, value in applied["annotations"].items() if n != ANNOTATION}
    text = to_json({**config, "metadata": applied}, "sorted").decode() + "\n"
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**metadata["annotations"], ANNOTATION: text}}}


def _annotation(obj: Obj) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations")
    found = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    return found if isinstance(found, str) else ""


Entry = Obj

APPLY = "Apply"
BEFORE = "before-first-apply"


@dataclass(frozen=True, slots=True)
class Apply:
    """An apply of a configuration by `manager`; `force` takes fields from their managers."""

    config: Obj
    manager: str
    resource: Resource
    subresource: str = ""
    force: bool = False

    @property
    def _root(self) -> Node:
        return root_of(self.resource)

    @property
    def _fields(self) -> FieldSet:
        return owned(fields_of(self.config, self._root), self.resource, self.subresource)

    def merged(self, old: Obj) -> Obj:
        """Return the object merged with the configuration, without fields that this manager no longer
        applies and no other owns.

        Raises StatusError 409 if that changes fields of other managers; 500 if the result does not fit the
        version of one of them.
        """
        own, others = self._entries(old)
        new = self._merged(old, own, others)
        comparison = VersionedChanges(old, new, self.resource)
        try:
            set_in = {version: comparison.changes(version) for version in {*map(_version, others)}}
        except MisfitError as error:
            last = own["apiVersion"] if own is not None and own.get("fieldsV1") else ""
            raise bare_error(_misfit(error, last)) from None
        if not self.force:
            client_side = agreed_fields(old, self.resource) if self.manager == KUBECTL else {}
            changed = {
                version: difference(changes.set, client_side) if changes else {}
                for version, changes in set_in.items()
            }
            conflicts: dict[str, list[str]] = {}
            for entry in sorted(others, key=_described):
                paths = paths_of(intersection(entry.get("fieldsV1") or {}, changed[_version(entry)]))
                if found := [*within_limit(paths)]:
                    conflicts.setdefault(_described(entry), []).extend(found)
            if conflicts:
                raise _conflict(conflicts)
        if effective(self.config, self.resource, self.subresource) != self.config:
            new = self._merged(old, own, others, whole=True)  # not all that has no owner is reset
        return with_last_applied(new, self.config) if self.manager == KUBECTL else new

    def _merged(
        self, old: Obj, own: Entry | None, others: list[Entry], *, whole: bool = False, null: bool = False
    ) -> Obj:
        """Return the merged object; `null`: what became empty is null, and keeps the owners of it itself."""
        last = (own or {}).get("fieldsV1") or {}
        managed = union(self._fields, *(entry.get("fieldsV1") or {} for entry in others))
        config = self.config if whole else effective(self.config, self.resource, self.subresource)
        return pruned(merge_config(old, config, self._root), last, managed, self._root, null=null)

    def track(self, old: Obj | None, new: Obj, time: str) -> None:
        """Set `new`'s managedFields to their state after this apply; `old` None: it is created."""
        own, others = self._entries(old or {})
        fields = self._fields
        changed = Changes()
        if old is not None:
            # Upstream keeps the null unless it converts to the version of the last apply and back.
            same = own is not None and own["apiVersion"] == self.resource.api_version
            merged = self._merged(old, own, others, null=same)
            comparison = VersionedChanges(old, merged, self.resource)
            changed = comparison.changes(self.resource.api_version) or changed
            for entry in others:
                give_up(entry, comparison.changed(entry))
        entry = new_entry(APPLY, self.manager, self.subresource, self.resource.api_version, ordered(fields))
        # An apply that does not change the object keeps the entry's time.
        if old is None or changed.set or changed.removed or self._sends_more(old):
            entry["time"] = time
        elif own is not None and "time" in own:
            entry["time"] = own["time"]
        kept = [other for other in others if other["fieldsV1"]]
        if fields:
            kept.append(entry)
        store_entries(new, sorted(kept, key=entry_order))

    def _sends_more(self, old: Obj) -> bool:
        """Return True if the configuration differs from the object, if only in what the resource resets."""
        changes = compare(old, merge_config(old, self.config, self._root), self._root)
        return bool(changes.set or changes.removed)

    def _entries(self, old: Obj) -> tuple[Entry | None, list[Entry]]:
        """Return this manager's last apply, and the entries of all others."""
        kept = (old.get("metadata") or {}).get("managedFields")
        entries = [dict(entry) for entry in distinct(kept or self._before(old))]
        group = group_of(self.resource.api_version)
        entries = [entry for entry in entries if group_of(entry.get("apiVersion", "")) == group]
        own = own_entry(entries, APPLY, self.manager, self.subresource)
        return own, [entry for entry in entries if entry is not own]

    def _before(self, old: Obj) -> list[Entry]:
        """Return the entry of the manager `before-first-apply`, which owns unmanaged fields."""
        if not old:
            return []
        seen: Obj = {**old, "metadata": dict(old.get("metadata") or {})}
        part, time = self.subresource, timestamp()
        track_update(None, seen, manager=BEFORE, time=time, resource=self.resource, subresource=part)
        entries: list[Entry] = seen["metadata"].get("managedFields") or []
        return entries


def _misfit(error: MisfitError, last: str) -> str:
    """Return upstream's words; `last` is the version in which the manager applied before, whose fields are
    pruned first; "" if it did not."""
    if not last or error.which == "old":
        return f"failed to convert {error.which} object: {error.faults}"
    step = f"failed add back owned items: failed to convert merged object at version {error.api_version}"
    if last == error.api_version:
        step = "failed to convert merged object to last applied version"
    return f"failed to prune fields: {step}: {error.faults}"


def _version(entry: Entry) -> str:
    return entry.get("apiVersion") or ""


def _described(entry: Entry) -> str:
    """Return a manager as upstream names it in conflicts."""
    text = quote(entry.get("manager", ""))
    if entry.get("subresource"):
        text += f" with subresource {quote(entry['subresource'])}"
    if entry.get("operation") == APPLY:
        return text
    return f"{text} using {entry.get('apiVersion', '')}"


def _conflict(conflicts: dict[str, list[str]]) -> StatusError:
    """Return the 409 for the paths that each manager owns."""
    pairs = [(manager, path) for manager, paths in conflicts.items() for path in paths]
    causes = [
        StatusCause("FieldManagerConflict", f"conflict with {manager}", path).body()
        for manager, path in pairs
    ]
    if len(pairs) == 1:
        manager, path = pairs[0]
        message = f"Apply failed with 1 conflict: conflict with {manager}: {path}"
    else:
        lines = []
        for manager, paths in conflicts.items():
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {path}" for path in paths]
        message = f"Apply failed with {len(pairs)} conflicts: " + "\n".join(lines)
    return StatusError(409, "Conflict", message, {"causes": causes})
