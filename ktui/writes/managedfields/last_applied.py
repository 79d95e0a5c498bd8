"""The annotation with the configuration of kubectl's client-side apply; its server-side apply updates it."""

from __future__ import annotations

import json
from typing import Any

from ktui.kube.golang.formatting import to_json
from ktui.kube.resources import Resource
from ktui.writes.managedfields.compare import compare
from ktui.writes.managedfields.fieldset import FieldSet, difference, union
from ktui.writes.managedfields.merging import fields_of
from ktui.writes.managedfields.nodes import root_of

Obj = dict[str, Any]

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
    metadata = obj["metadata"]
    annotations = {**metadata["annotations"], ANNOTATION: _text(config)}
    return {**obj, "metadata": {**metadata, "annotations": annotations}}


def _annotation(obj: Obj) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations")
    found = annotations.get(ANNOTATION) if isinstance(annotations, dict) else None
    return found if isinstance(found, str) else ""


def _text(config: Obj) -> str:
    metadata = dict(config.get("metadata") or {})
    if isinstance(metadata.get("annotations"), dict):
        kept = {name: value for name, value in metadata["annotations"].items() if name != ANNOTATION}
        metadata["annotations"] = kept
    return to_json({**config, "metadata": metadata}, "sorted").decode() + "\n"
