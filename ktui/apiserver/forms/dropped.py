"""Objects without metadata.managedFields, for `Accept: …;drop=metadata.managedFields`.

kube-apiserver 1.38 with the gate ManagedFieldsOptOut (alpha, off; KEP-5958, kubernetes#139561): all verbs,
also WATCH, in every form that contains metadata. Every form renders what it is given, so objects are
replaced before they are rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

from ktui.apiserver.negotiation import PROTOBUF, Form
from ktui.cacher.watch_events import OutEvent
from ktui.storage.objects import StoredObject

if TYPE_CHECKING:
    from ktui.apiserver.forms.plain import EventForm


def without_managed_fields(obj: StoredObject, form: Form) -> StoredObject:
    """Return what is rendered in the form instead of the object."""
    return obj.without_managed_fields(from_json=form.media_type != PROTOBUF)


def dropper(form: Form) -> Callable[[StoredObject], StoredObject] | None:
    """Return what replaces objects before they are rendered in the form; None: they are sent as they are."""
    return partial(without_managed_fields, form=form) if form.drop else None


class DroppedObjects(Sequence[StoredObject]):
    """The objects of a List, each replaced when it is read, so that they are not held twice."""

    def __init__(
        self, objects: Sequence[StoredObject], replaced: Callable[[StoredObject], StoredObject]
    ) -> None:
        self._objects = objects
        self._replaced = replaced

    def __len__(self) -> int:
        return len(self._objects)

    @overload
    def __getitem__(self, at: int) -> StoredObject: ...
    @overload
    def __getitem__(self, at: slice) -> list[StoredObject]: ...
    def __getitem__(self, at: int | slice) -> StoredObject | list[StoredObject]:
        if isinstance(at, slice):
            return [*map(self._replaced, self._objects[at])]
        return self._replaced(self._objects[at])


class DroppedEvents:
    """Events in a form, of objects without managedFields; encoded once for all watchers with that form."""

    def __init__(
        self, form: EventForm, key: Hashable, replaced: Callable[[StoredObject], StoredObject]
    ) -> None:
        self._form = form
        self._key = key
        self._replaced = replaced
        self.large_bytes = form.large_bytes

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        obj = event.object
        if obj is None:  # a BOOKMARK or an ERROR
            return self._form.event(event, first=first)

        def rendered(whole: OutEvent) -> bytes:
            return self._form.event(OutEvent(whole.type, whole.rv, self._replaced(obj)), first=first)

        return event.encoding((self._key, first), rendered)
