"""What all writes share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec.json

from ktui.apiserver.answer import finished, send_document
from ktui.apiserver.call import Call
from ktui.apiserver.http.request import BodyTooLarge
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.objects.body import decode_object
from ktui.apiserver.objects.fitting import Unfit, check_metadata
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, forbidden_read_only, not_found, request_entity_too_large
from ktui.wire.errors import CodecError

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

Obj = dict[str, Any]


async def begin(server: Server, call: Call, resource: Resource) -> tuple[Form, bytes]:
    """The form of the answer and the body of a write that may take place; StatusError 403, 406, 413."""
    form = negotiate(call.request.accept, custom=resource.custom)
    if not server.services.facts.info().writable:
        raise forbidden_read_only(resource, call.info.name)
    call.meter.seats = 1
    return form, await read_body(call)


async def read_body(call: Call) -> bytes:
    """The body; StatusError 413 above 3 MiB."""
    try:
        return await call.request.body()
    except BodyTooLarge:
        raise request_entity_too_large() from None


def sent_object(server: Server, call: Call, resource: Resource, body: bytes) -> Obj:
    """The object that a client sent, as JSON or as protobuf; StatusError 400 or 415."""

    def from_protobuf(message: bytes) -> bytes:
        # The envelope is the one in which etcd holds built-in kinds.
        try:
            return server.services.codec.object_json(message, None, None)
        except CodecError as error:
            raise ValueError(error.reason) from error

    return decode_object(body, call.request.headers.get("content-type", ""), resource, from_protobuf)


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


async def answer_tree(call: Call, obj: Obj, form: Form, status: int = 200) -> None:
    """An object that is not stored (dry runs, Scale, Status)."""
    await send_document(call, finished(msgspec.json.encode(obj), form), form, status)
