"""Choose the renderer for the form that a client negotiated, with or without metadata.managedFields.

`Accept: …;drop=metadata.managedFields`: kube-apiserver 1.38 with the gate ManagedFieldsOptOut (alpha, off;
KEP-5958, kubernetes#139561): all verbs, also WATCH, in every form that contains metadata. Every form renders
what it is given, so objects are replaced before they are rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial

from ktui.apiserver.forms.metadata_form import KIND, LIST_KIND, Partial, PartialList, PartialMessage
from ktui.apiserver.forms.plain import Converted, EventForm, Message, ObjectForm, Plain
from ktui.apiserver.forms.table_form import Table, check_include
from ktui.apiserver.negotiation import PROTOBUF, Form
from ktui.cacher.watch_events import OutEvent
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.storage.objects import StoredObject
from ktui.wire.stored_codec import StoredCodec


def without_managed_fields(obj: StoredObject, form: Form) -> StoredObject:
    """Return what is rendered in the form instead of the object."""
    return obj.without_managed_fields(from_json=form.media_type != PROTOBUF)


def dropper(form: Form) -> Callable[[StoredObject], StoredObject] | None:
    """Return what replaces objects before they are rendered in the form; None: they are sent as they are."""
    return partial(without_managed_fields, form=form) if form.drop else None


class DroppedEvents(EventForm):
    """Events in a form, of objects without managedFields; encoded once for all watchers with that form."""

    def __init__(
        self, form: EventForm, key: Hashable, replaced: Callable[[StoredObject], StoredObject]
    ) -> None:
        self._form = form
        self._key = key
        self._replaced = replaced
        self.large_bytes = form.large_bytes

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        obj, render = event.object, self._form.event
        if obj is None:  # a BOOKMARK or an ERROR
            return render(event, first=first)

        def rendered(whole: OutEvent) -> bytes:
            return render(OutEvent(whole.type, whole.rv, self._replaced(obj)), first=first)

        return event.encoding((self._key, first), rendered, self._form.second())


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
    # the Go package of a group's internal types
    package = _PACKAGES.get(resource.group) or resource.group.partition(".")[0]
    of = "unstructured.UnstructuredList" if resource.custom else f"{package}.{kind}"
    why = f"you requested {target}, but the requested object is {what} (*{of})"
    return StatusError(406, "NotAcceptable", why)
