"""Choose the renderer for the form that a client negotiated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ktui.apiserver.forms.dropped import DroppedEvents, dropper
from ktui.apiserver.forms.message import Message, PartialMessage
from ktui.apiserver.forms.metadata_form import KIND, LIST_KIND, Partial, PartialList
from ktui.apiserver.forms.plain import Converted, EventForm, ObjectForm, Plain
from ktui.apiserver.forms.table_form import Table, check_include
from ktui.apiserver.negotiation import PROTOBUF, Form
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.wire.stored_codec import StoredCodec

_PACKAGES = {"": "core", "events.k8s.io": "core", "internal.apiserver.k8s.io": "apiserverinternal"}


def object_form(
    form: Form, resource: Resource, codec: StoredCodec, *, include: str, of_list: bool
) -> ObjectForm:
    """Return the renderer; raise StatusError 406 if the form does not apply, 400 for an unknown `include`."""
    protobuf = form.media_type == PROTOBUF
    if protobuf and not form.target:
        return Message(resource, codec.messages)
    plain = Plain(resource) if resource.served_as_stored else Converted(resource, codec)
    if not form.target:
        return plain
    if form.target == "Table":
        return Table(plain, resource, form.meta_api_version, check_include(include))
    if of_list != form.target.endswith("List"):
        raise _wrong_shape(form.target, resource, of_list)
    partial = Partial(plain, form.meta_api_version, resource)
    if protobuf:
        return PartialMessage(resource, codec.messages, partial, form.meta_api_version)
    return partial


def event_form(form: Form, resource: Resource, codec: StoredCodec, *, include: str) -> EventForm:
    """Return the renderer of a WATCH's events; raise StatusError 400 for an unknown `include`."""
    if form.target == LIST_KIND:
        single = replace(form, target=KIND)
        return PartialList(object_form(single, resource, codec, include=include, of_list=False))
    found = object_form(form, resource, codec, include=include, of_list=False)
    replaced = dropper(form)
    if replaced is None:
        return found
    return DroppedEvents(found, (form, resource.api_version, include), replaced)


def _wrong_shape(target: str, resource: Resource, of_list: bool) -> StatusError:
    if resource.custom and not of_list:
        # Unstructured objects may be taken for lists until their items are requested.
        return StatusError(500, "", "content is not a list")
    what = "a list" if of_list else "not a list"
    kind = resource.list_kind if of_list else resource.kind
    of = "unstructured.UnstructuredList" if resource.custom else f"{_package(resource.group)}.{kind}"
    why = f"you requested {target}, but the requested object is {what} (*{of})"
    return StatusError(406, "NotAcceptable", why)


def _package(group: str) -> str:
    """Return the Go package of a group's internal types."""
    return _PACKAGES.get(group) or group.partition(".")[0]
