"""An object brought into the shape of its type: defaults set, unknown fields gone."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.call import Call
from ktui.apiserver.objects.crvalidation import validate
from ktui.apiserver.objects.defaults import set_defaults
from ktui.apiserver.objects.fitting import check_metadata, unknown_fields, unknown_texts
from ktui.apiserver.objects.metadata import drop_empty, metadata_of
from ktui.apiserver.objects.schema import apply_defaults, prune_object
from ktui.apiserver.objects.trees import copied
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.kube.fielderrors import invalid_object
from ktui.kube.golang.quoting import quote
from ktui.kube.resources import Resource

Obj = dict[str, Any]


def shaped(server: Server, obj: Obj, resource: Resource) -> tuple[Obj, list[str]]:
    """The object as it can be stored, and what is to be said of fields that its type does not know.

    Raises Unfit for members of a wrong type, StatusError 422 for values that the
    schema of a custom resource forbids.
    """
    if not resource.custom:
        sent = copied(obj)
        # Never stored in an object, and no mistake of the client's.
        (sent.get("metadata") or {}).pop("resourceVersion", None)
        set_defaults(obj)
        stored = writing.as_stored(server, obj, resource)
        return stored, unknown_texts(unknown_fields(sent, stored))
    check_metadata(obj)
    drop_empty(metadata_of(obj))
    schema = server.catalog.schema_of(resource)
    unknown = prune_object(obj, schema)
    apply_defaults(obj, schema)
    errors = validate(obj, schema)
    if errors:
        name = str((obj.get("metadata") or {}).get("name", ""))
        raise invalid_object(resource.kind, resource.group, name, errors)
    return obj, unknown_texts(unknown)


def undeclared(server: Server, config: Obj, resource: Resource) -> list[str]:
    """Paths that the type of `config` does not declare; Unfit for members of a wrong type."""
    shown = copied(config)
    if resource.custom:
        return prune_object(shown, server.catalog.schema_of(resource))
    return unknown_fields(config, writing.as_stored(server, shown, resource))


def warn(call: Call, faults: list[str]) -> None:
    """A Warning header for each unknown or duplicate field."""
    call.response.add_headers([("warning", f"299 - {quote(text)}") for text in faults])
