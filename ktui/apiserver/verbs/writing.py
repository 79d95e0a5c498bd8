"""What all writes share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import msgspec.json

from ktui.apiserver.call import Call
from ktui.apiserver.http.request import BodyTooLarge
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.objects.body import MAGIC, NO_MESSAGE, decode_document, decode_object
from ktui.apiserver.objects.fitting import Unfit, check_metadata, misfit, no_metadata, refused
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, forbidden_read_only, not_found, request_entity_too_large
from ktui.wire.errors import CodecError

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

Obj = dict[str, Any]


async def begin(server: Server, call: Call, resource: Resource) -> tuple[Form, bytes]:
    """The form of the answer and the body of a write that may take place; StatusError 403, 406, 413."""
    form = negotiate(call.request.accept, custom=resource.custom, pretty=call.request.wants_pretty)
    if not server.services.facts.info().writable:
        raise forbidden_read_only(resource, call.info.name)
    call.meter.seats = 1
    return form, await read_body(call)


async def read_body(call: Call) -> bytes:
    """The body; StatusError 413 above 3 MiB."""
    try:
        body = await call.request.body()
    except BodyTooLarge:
        raise request_entity_too_large() from None
    call.meter.hold(len(body))
    return body


def sent_object(server: Server, call: Call, resource: Resource, body: bytes) -> Obj:
    """The object that a client sent, as JSON or as protobuf; StatusError 400 or 415."""
    content_type = call.request.headers.get("content-type", "")
    codec = server.services.codec
    obj = decode_object(body, content_type, resource, codec.knows, partial(from_protobuf, server))
    check_sent_metadata(server, obj, resource)
    return obj


def check_sent_metadata(server: Server, obj: Obj, resource: Resource) -> None:
    """StatusError 400, in Go's words, for metadata that do not fit: they are looked at before all else."""
    metadata = obj.get("metadata")
    if metadata is None:
        return
    if resource.custom and not isinstance(metadata, dict):
        raise refused(resource, no_metadata(metadata))
    codec = server.services.codec
    if fault := codec.go_mismatch({"metadata": metadata}, resource.api_version, resource.kind):
        raise refused(resource, fault)


def sent_document(server: Server, call: Call, body: bytes, api_version: str, kind: str) -> Obj:
    """A document that is no object of the resource (a Binding, a Scale); StatusError 400 or 415."""
    content_type = call.request.headers.get("content-type", "")
    document = decode_document(body, content_type, partial(from_protobuf, server))
    if fault := server.services.codec.go_mismatch(document, api_version, kind):
        raise misfit(kind, api_version, fault)
    return document


def from_protobuf(server: Server, message: bytes) -> bytes:
    """A message as JSON; ValueError. Its envelope is the one in which etcd holds built-in kinds."""
    if not message.startswith(MAGIC):
        raise ValueError(NO_MESSAGE)
    try:
        return server.services.codec.object_json(message, None, None)
    except CodecError as error:
        raise ValueError(error.reason) from error


def as_stored(server: Server, obj: Obj, resource: Resource) -> Obj:
    """The object as it comes back from storage: what its type does not know, and what is empty, is gone.

    Raises Unfit for an object that cannot be stored.
    """
    check_metadata(obj)
    if resource.custom:
        return obj
    try:
        raw = server.services.codec.encode_object(obj, resource)
    except CodecError as error:
        raise Unfit(error.reason) from error
    stored: Obj = msgspec.json.decode(server.services.codec.object_json(raw, None, resource.api_version))
    return stored


def tree(server: Server, obj: StoredObject, resource: Resource) -> Obj:
    """A stored object as a tree, in the version of the request."""
    codec = server.services.codec
    document: Obj = msgspec.json.decode(codec.object_json(obj.raw, obj.rv, resource.api_version))
    return document


async def current(server: Server, resource: Resource, namespace: str, name: str) -> StoredObject:
    """The object as etcd has it now; StatusError 404."""
    answer = await server.cacher(resource).get(namespace or None, name, "")
    if answer.object is None:
        raise not_found(resource, name)
    return answer.object


async def find(server: Server, resource: Resource, namespace: str, name: str) -> Obj | None:
    """The object as the cache has it, as a tree that is only to be read: good enough for admission."""
    try:
        answer = await server.cacher(resource).get(namespace or None, name, "0")
    except StatusError:
        return None
    found = answer.object
    if found is None:
        return None
    return _read_often(server.services.codec.object_json, found.raw, found.rv, resource.api_version)


@lru_cache(maxsize=256)
def _read_often(read: Callable[[bytes, int, str], bytes], raw: bytes, rv: int, api_version: str) -> Obj:
    """The few namespaces and nodes to which everything is admitted."""
    document: Obj = msgspec.json.decode(read(raw, rv, api_version))
    return document
