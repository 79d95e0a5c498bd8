"""PartialObjectMetadata: an object's metadata and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from ktui.apiserver.forms.plain import EventForm, Message, ObjectForm, Plain, UnfitEventError, event_line
from ktui.apiserver.framing import list_head
from ktui.cacher.watch_events import OutEvent
from ktui.kube.golang.formatting import to_json
from ktui.kube.resources import Resource
from ktui.storage.objects import StoredObject
from ktui.wire.conversion import ROUND_TRIP
from ktui.wire.pieces import Layout
from ktui.wire.stored_codec import Messages
from ktui.wire.type_order import MANAGED_FIELDS, OBJECT_META

_OWNER = ("apiVersion", "kind", "name", "uid")  # which are always written


def _struct(name: str, *members: str, required: tuple[str, ...] = (), **lists: type) -> Any:
    """Return a type with undecoded members, except `lists` of structs; missing ones are UNSET, or ""."""
    always = [(member, Raw, Raw(b'""')) for member in required]
    types = {member: list[item] | UnsetType | None for member, item in lists.items()}  # type: ignore[valid-type]
    optional = [(member, types.get(member, Raw | UnsetType), UNSET) for member in members]
    return msgspec.defstruct(name, [*always, *optional])


_OwnerReference = _struct("OwnerReference", "controller", "blockOwnerDeletion", required=_OWNER)
_ManagedFieldsEntry = _struct("ManagedFieldsEntry", *MANAGED_FIELDS)
_ObjectMeta = _struct(
    "ObjectMeta", *OBJECT_META, ownerReferences=_OwnerReference, managedFields=_ManagedFieldsEntry
)
_decoder = msgspec.json.Decoder(_ObjectMeta)
_encode = msgspec.json.encode
_EMPTY = frozenset((b"null", b'""', b"{}", b"[]"))


def in_type_order(metadata: bytes) -> bytes:
    """Return metadata as Go encodes ObjectMeta: in the type's order, without empty members.

    Custom resources are stored with sorted members; only their metadata has this type. Metadata that does not
    fit the type is returned unchanged.
    """
    try:
        meta = _decoder.decode(metadata)
    except msgspec.ValidationError:
        return metadata
    for name in _ObjectMeta.__struct_fields__:
        value = getattr(meta, name)
        if not value or (isinstance(value, Raw) and bytes(value) in _EMPTY):
            setattr(meta, name, UNSET)
    if meta.generation is not UNSET and bytes(meta.generation) == b"0":
        meta.generation = UNSET
    return _encode(meta)


KIND: Literal["PartialObjectMetadata"] = "PartialObjectMetadata"
LIST_KIND = "PartialObjectMetadataList"

# Annotations that are fields of upstream's internal types, and missing in forms built from those.
INTERNAL_ANNOTATIONS = {
    "daemonsets.apps": ("deprecated.daemonset.template.generation",),
    "horizontalpodautoscalers.autoscaling": ROUND_TRIP,
}


class _Object(msgspec.Struct):
    """Only the metadata, undecoded: the rest of the JSON is skipped."""

    metadata: msgspec.Raw = msgspec.Raw(b"{}")


def metadata_of(document: bytes) -> bytes:
    return bytes(msgspec.json.decode(document, type=_Object).metadata)


def partial(document: bytes, api_version: str, resource: Resource) -> bytes:
    """Return the PartialObjectMetadata of an object's JSON; `api_version` is meta.k8s.io's."""
    metadata = metadata_of(document)
    if resource.custom:
        metadata = in_type_order(metadata)
    if internal := INTERNAL_ANNOTATIONS.get(resource.id):
        tree = msgspec.json.decode(metadata)
        annotations = tree.get("annotations") or {}
        for annotation in internal:
            annotations.pop(annotation, None)
        if not annotations:
            tree.pop("annotations", None)
        metadata = to_json(tree)
    version = api_version.encode()
    return b'{"kind":"PartialObjectMetadata","apiVersion":"%b","metadata":%b}' % (version, metadata)


class Partial(ObjectForm):
    """Wraps the plain form. `spliced`: the metadata is sent as the cached JSON or stored message has it."""

    def __init__(self, plain: ObjectForm, api_version: str, resource: Resource) -> None:
        self._plain = plain
        self._api_version = api_version
        self._resource = resource
        self._head = b'{"kind":"PartialObjectMetadata","apiVersion":"%b",' % api_version.encode()
        self.spliced = (
            type(plain) is Plain and not resource.custom and resource.id not in INTERNAL_ANNOTATIONS
        )

    def list_head(self, metadata: dict[str, Any]) -> bytes:
        return list_head(LIST_KIND, self._api_version, metadata)

    def empty_list(self, metadata: dict[str, Any]) -> bytes:
        return self.list_head(metadata).removesuffix(b"[") + b"null}\n"

    def item(self, obj: StoredObject) -> Sequence[bytes]:
        metadata = obj.metadata_pieces() if self.spliced else None
        if metadata is None:
            return (partial(b"".join(self._plain.item(obj)), self._api_version, self._resource),)
        return (self._head, *metadata, b"}")

    def kept(self, obj: StoredObject) -> Sequence[bytes] | None:
        return self.item(obj) if self.spliced and obj.transcoded is not None else None

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        if event.type == "ERROR":
            return event.line()
        return event.encoding((KIND, self._api_version), self._line)

    def of_document(self, document: bytes) -> bytes:
        """Return the metadata of an object that is not stored, or of a bookmark."""
        return partial(document, self._api_version, self._resource)

    def _line(self, event: OutEvent) -> bytes:
        found = self.of_document(event.document) if event.object is None else self.whole(event.object)
        return event_line(event.type, found)


class PartialList(EventForm):
    """A WATCH in the form of a list, which no event's object has.

    Upstream detects this after it has answered 200: the first event ends the stream unsent. An ERROR is sent,
    as it is never transformed.
    """

    def __init__(self, single: EventForm) -> None:
        self._single = single

    def event(self, event: OutEvent, *, first: bool) -> bytes:
        if event.type != "ERROR":
            raise UnfitEventError(event.type)
        return self._single.event(event, first=first)


class PartialMessage(Message):
    """PartialObjectMetadata: cut from the stored message, or encoded from its JSON."""

    _cut = staticmethod(Layout.metadata)
    _size = staticmethod(attrgetter("metadata_size"))

    def __init__(self, resource: Resource, messages: Messages, partial: Partial, api_version: str) -> None:
        super().__init__(resource, messages)
        self._partial = partial
        self._list = (api_version, LIST_KIND)
        self._spliced = partial.spliced

    def whole(self, obj: StoredObject) -> bytes:
        return self._messages.document(self._partial.whole(obj))

    def of_document(self, document: bytes) -> bytes:
        return self._messages.document(self._partial.of_document(document))

    def _encoded(self, obj: StoredObject) -> bytes:
        return self._messages.partial_item(self._partial.whole(obj))

    def _of_event(self, event: OutEvent) -> bytes:
        if event.type == "ERROR":
            return self._messages.document(event.document)
        return self.of_document(event.document)
