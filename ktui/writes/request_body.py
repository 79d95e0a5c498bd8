"""The body of a write: read, and decoded into the object or document that the client sent."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.apiserver.call import Call
from ktui.apiserver.http.request import BodyTooLarge
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import forbidden_read_only, request_entity_too_large
from ktui.wire.errors import CodecError
from ktui.writes.decoding.body import MAGIC, NO_MESSAGE, decode_document, decode_object
from ktui.writes.decoding.field_validation import misfit, no_metadata, refused

if TYPE_CHECKING:
    pass

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
