"""Errors about one object or its collection."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.kube.golang.formatting import quote
from ktui.kube.status.error import (
    GroupResource,
    StatusCause,
    StatusError,
    cut,
    named,
    qualified,
    resource_details,
)

MAX_CAUSES = 100
MAX_CAUSE_TEXT = 20_000  # characters; each cause is sent twice, and quoted
MAX_NAME = 1_000


def not_found(resource: GroupResource, name: str) -> StatusError:
    """404: no such object."""
    return StatusError(
        404, "NotFound", f"{named(resource, name)} not found", resource_details(resource, name)
    )


def already_exists(resource: GroupResource, name: str) -> StatusError:
    """409 on create: an object with this name exists."""
    message = f"{named(resource, name)} already exists"
    return StatusError(409, "AlreadyExists", message, resource_details(resource, name))


def generated_name_taken(resource: GroupResource, name: str) -> StatusError:
    """409 on create with `generateName`, if the generated name exists: the client may retry."""
    message = (
        f"{named(resource, name)} already exists, the server was not able to generate a unique name for the "
        "object"
    )
    return StatusError(
        409, "AlreadyExists", message, resource_details(resource, name) | {"retryAfterSeconds": 1}
    )


def being_deleted(taken: StatusError) -> StatusError:
    """Return the 409 `taken` with the text for an existing object that is being deleted."""
    return StatusError(taken.code, taken.reason, f"object is being deleted: {taken.message}", taken.details)


def conflict(
    resource: GroupResource,
    name: str,
    why: str = "the object has been modified; please apply your changes to the latest version and try again",
) -> StatusError:
    """409 on update: the object has a newer resourceVersion."""
    message = f"Operation cannot be fulfilled on {named(resource, name)}: {why}"
    return StatusError(409, "Conflict", message, resource_details(resource, name))


def precondition_failed(
    resource: GroupResource, name: str, what: str, wanted: str, found: str
) -> StatusError:
    """409 on delete: `what` ("UID", "ResourceVersion") differs from the precondition."""
    message = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    return conflict(resource, name, message)


def precondition_unmet(resource: GroupResource, name: str, what: str, wanted: str, found: str) -> StatusError:
    """409 before a deletion begins: the object is not the one in the precondition."""
    why = "deleted and then recreated" if what == "UID" else "modified"
    kind = qualified(resource.group, resource.kind)  # the kind, unlike in every other conflict
    message = (
        f"Operation cannot be fulfilled on {kind} {quote(name)}: the {what} in the precondition ({wanted}) "
        f"does not match the {what} in record ({found}). The object might have been {why}"
    )
    return StatusError(409, "Conflict", message, {**resource_details(resource, name), "kind": resource.kind})


def unmet_in_storage(
    resource: GroupResource, name: str, key: str, what: str, wanted: str, found: str
) -> StatusError:
    """409 for a precondition that storage checks; `key` is the object's key in etcd."""
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    )
    return conflict(resource, name, why)


def invalid(kind: str, group: str, name: str, causes: Iterable[StatusCause]) -> StatusError:
    """422: validation failed. `kind` is the object's kind ("ListOptions"), not the plural.

    Several causes are joined as `[a, b]`, without duplicates, as upstream's aggregate does. Upstream lists
    all causes; here an answer has at most MAX_CAUSES and MAX_CAUSE_TEXT characters of them, and no more are
    read from `causes`. (Upstream's decoder stops at 100 unknown fields.)
    """
    kind, group, name = cut(kind, MAX_NAME), cut(group, MAX_NAME), cut(name, MAX_NAME)
    shown, complete = _first(causes)
    texts = list(dict.fromkeys(f"{c.field}: {c.message}" for c in shown))
    if not complete:
        texts.append("and more errors that are not shown")
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    parts = {"name": name, "group": group, "kind": kind, "causes": [c.body() for c in shown]}
    details = {k: v for k, v in parts.items() if v}
    return StatusError(422, "Invalid", f"{qualified(group, kind)} {quote(name)} is invalid: {text}", details)


def _first(causes: Iterable[StatusCause]) -> tuple[list[StatusCause], bool]:
    """Return the causes that an answer shows, and True if these are all causes."""
    shown: list[StatusCause] = []
    left = MAX_CAUSE_TEXT
    for cause in causes:
        field, message = cut(cause.field, MAX_NAME), cut(cause.message, MAX_CAUSE_TEXT)
        left -= len(field) + len(message)
        if len(shown) == MAX_CAUSES or (shown and left < 0):
            return shown, False
        shown.append(StatusCause(cause.reason, message, field))
    return shown, True


def method_not_supported(resource: GroupResource, verb: str) -> StatusError:
    """405 of custom resources; `verb` is the API's ("create"), "" for a method without one."""
    message = (
        f"{verb} is not supported on resources of kind {quote(qualified(resource.group, resource.resource))}"
    )
    return StatusError(405, "MethodNotAllowed", message, resource_details(resource, ""))


def forbidden(resource: GroupResource, name: str, why: str) -> StatusError:
    """403 for an object, or for the whole collection when `name` is empty."""
    what = named(resource, name) if name else qualified(resource.group, resource.resource)
    return StatusError(403, "Forbidden", f"{what} is forbidden: {why}", resource_details(resource, name))


def namespace_terminating(resource: GroupResource, name: str, namespace: str) -> StatusError:
    """403 on create: the namespace is being deleted."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refused = forbidden(resource, name, why)
    gone = f"namespace {namespace} is being terminated"
    cause = StatusCause("NamespaceTerminating", gone, "metadata.namespace")
    details = {**(refused.details or {}), "causes": [cause.body()]}
    return StatusError(refused.code, refused.reason, refused.message, details)


def forbidden_read_only(resource: GroupResource, name: str, why: str = "") -> StatusError:
    """403 of ktui itself: it only reads this etcd (no upstream counterpart)."""
    return forbidden(
        resource, name, why or "ktui reads this etcd only; start it with --allow-writes to write"
    )
