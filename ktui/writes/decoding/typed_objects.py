"""An object in the form of its type: defaults set, unknown fields removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.http.response import warning_headers
from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.kube.status import internal_error, request_entity_too_large
from ktui.kube.structural.schema import ANYTHING, prune_object
from ktui.kube.structural.shaping import DefaultsTooLarge, shape
from ktui.writes import stored_objects
from ktui.writes.decoding.body import (
    Unconvertible,
    Unfit,
    check_metadata,
    check_texts,
    kind_fault,
    unknown_texts,
)
from ktui.writes.defaults import set_defaults
from ktui.writes.hub_types import counter_fault, through_hub
from ktui.writes.objectmeta import drop_empty, metadata_of
from ktui.writes.patches.converter import conversion_fault, converted
from ktui.writes.patches.patch_documents import patched_text
from ktui.writes.validation.custom_invariants import embedded_fault

# Upstream: parseYAMLWarnings.
_LINES = re.compile(r"(error converting YAML to JSON: )?yaml: unmarshal errors:\n")
# Members that most patches leave unchanged: they have been typed already.
_PARTS = ("spec", "status")


def shaped(server: Server, obj: Obj, resource: Resource, old: Obj | None = None) -> tuple[Obj, list[str]]:
    """The object to store, and the errors or warnings for unknown fields.

    `obj` is not changed; `old` is the stored one, for an update. Raises Unfit for members of a
    wrong type.
    """
    try:
        check_texts(obj)
    except ValueError as error:
        raise Unfit(str(error)) from None
    if resource.custom:
        _check_named(obj)
    if fault := kind_fault(obj, resource, server.services.codec.knows):
        raise Unfit(fault)
    if not resource.custom:
        was = old or {}  # what a patch left unchanged was checked before
        changed = {name: obj[name] for name in obj if name not in _PARTS or obj[name] is not was.get(name)}
        if fault := server.services.codec.go_mismatch(changed, resource.api_version, resource.kind):
            raise Unfit(fault)
        release = server.services.settings.behaviour.minor
        unknown = server.services.codec.unknown_fields(changed, resource.api_version, resource.kind, release)
        own = copied(obj)
        server.services.codec.clear_nulls(own, resource.api_version, resource.kind)
        if unknown:
            server.services.codec.drop_unknown(own, resource.api_version, resource.kind, release)
        set_defaults(own)
        if fault := counter_fault(own):
            raise Unconvertible(fault)
        through_hub(own)
        stored = _patched(server, own, _untouched(obj, was, own), resource)
        return stored, unknown_texts(unknown)
    return _shaped_custom(server, obj, resource)


def _shaped_custom(server: Server, obj: Obj, resource: Resource) -> tuple[Obj, list[str]]:
    own = copied(obj)
    if fault := server.services.codec.go_mismatch(own, resource.api_version, resource.kind):
        raise Unfit(fault)
    check_metadata(own)
    metadata = metadata_of(own)
    for name in ("labels", "annotations"):
        if metadata.get(name):  # as Go decodes a null into a map of texts
            metadata[name] = {key: "" if text is None else text for key, text in metadata[name].items()}
    drop_empty(metadata)
    schema = resource.schemas.get(resource.version, ANYTHING)
    if (misfit := embedded_fault(own, schema)) is not None:
        raise Unfit(str(misfit))
    try:
        unknown = shape(own, schema)
    except DefaultsTooLarge as error:
        raise request_entity_too_large(str(error)) from None
    return own, unknown_texts(sorted(unknown))


def shaped_by_converter(
    server: Server, obj: Obj, resource: Resource, old: Obj | None = None
) -> tuple[Obj, list[str]]:
    """As `shaped`, for an object that upstream's converter types: it has errors and numbers of its own.

    It sorts the unknown fields.
    """
    try:
        typed, unknown = shaped(server, obj, resource, old)
    except Unfit:
        if resource.custom:
            raise
        if fault := conversion_fault(obj, resource):
            raise Unfit(fault) from None
        typed, unknown = shaped(server, converted(obj, resource), resource, old)
    return typed, sorted(unknown)


def _check_named(obj: Obj) -> None:
    """Raise Unfit for a custom resource that a patch left without kind, StatusError 500 for apiVersion."""
    if not obj.get("apiVersion"):
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    if not obj.get("kind"):
        raise Unfit(f"Object 'Kind' is missing in '{patched_text(obj, None)}'")


def _untouched(obj: Obj, old: Obj, own: Obj) -> Obj:
    """The parts of `old` that a patch left unchanged in `obj`: identical trees, not only equal ones.

    `own` is `obj` with its defaults, which may be missing in the stored one.
    """
    parts = {name: old[name] for name in _PARTS if name in old and obj.get(name) is old[name]}
    return {name: part for name, part in parts.items() if own.get(name) == part}


def _patched(server: Server, obj: Obj, same: Obj, resource: Resource) -> Obj:
    """As `as_stored`, without the parts in `same`: a new status alone is typed."""
    if not same or resource.encoding != "protobuf" or resource.api_version != resource.storage_version:
        return stored_objects.as_stored(server, obj, resource)
    stored = stored_objects.as_stored(server, {name: obj[name] for name in obj if name not in same}, resource)
    if any(name not in stored for name in same):  # its position among the others is unknown
        return stored_objects.as_stored(server, obj, resource)
    stored.update(same)
    return stored


@contextmanager
def with_empty_lists(obj: Obj, sent: Obj) -> Iterator[None]:
    """Restore the empty lists of `sent` that are null in storage: a client that sends one manages it."""
    restored = list(_empty_lists(obj, sent))
    for part, name in restored:
        part[name] = []
    yield
    for part, name in restored:
        part[name] = None


def _empty_lists(obj: Obj, sent: Obj) -> Iterator[tuple[Obj, str]]:
    for name, value in obj.items():
        given = sent.get(name)
        if value is None and given == []:
            yield obj, name
        elif isinstance(value, dict) and isinstance(given, dict):
            yield from _empty_lists(value, given)


def as_sent(typed: Any, sent: Any) -> Any:
    """Return a typed value with the empty lists and maps of the sent one, which errors show."""
    if isinstance(typed, dict) and isinstance(sent, dict):
        other: Obj = {}
        for name, given in sent.items():
            value = typed.get(name)
            if given in ([], {}) and not value:
                other[name] = given
            elif value is not None and (part := as_sent(value, given)) is not value:
                other[name] = part
        return {**typed, **other} if other else typed
    if isinstance(typed, list) and isinstance(sent, list) and len(typed) == len(sent):
        items = [as_sent(item, given) for item, given in zip(typed, sent, strict=True)]
        return items if any(a is not b for a, b in zip(items, typed, strict=True)) else typed
    return typed


def undeclared(server: Server, config: Obj, resource: Resource) -> list[str]:
    """Paths that the type of `config` does not declare."""
    if resource.custom:
        return prune_object(copied(config), resource.schemas.get(resource.version, ANYTHING))
    release = server.services.settings.behaviour.minor
    return server.services.codec.unknown_fields(config, resource.api_version, resource.kind, release)


def warn(call: Call, faults: list[str]) -> None:
    """Add a Warning header for each unknown or duplicate field; the reader of YAML has one text for all."""
    lines = (_LINES.sub("", fault).split("\n") if _LINES.match(fault) else [fault] for fault in faults)
    call.response.add_headers(warning_headers([line.strip() for found in lines for line in found]))
