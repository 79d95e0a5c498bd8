"""GET, and the answer of every request for one object: the object in the negotiated form."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import msgspec.json

from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import object_form, without_managed_fields
from ktui.apiserver.forms.plain import ObjectForm
from ktui.apiserver.http.response import Body, accepts_gzip
from ktui.apiserver.http.yamltext import yaml_of
from ktui.apiserver.negotiation import JSON, PROTOBUF, YAML, Form, negotiate
from ktui.apiserver.server import Server
from ktui.kube.golang.formatting import to_json
from ktui.kube.listoptions import parse_get_options
from ktui.kube.resources import Resource
from ktui.kube.status import not_found
from ktui.kube.structural.shaping import Shaper
from ktui.storage.objects import StoredObject
from ktui.telemetry.off_loop import compute, compute_large
from ktui.wire.stored_codec import StoredCodec


async def get(server: Server, call: Call, resource: Resource) -> None:
    request, info = call.request, call.info
    form = negotiate(request.accept, custom=resource.custom, pretty=request.wants_pretty, drops=call.drops)
    options = parse_get_options(request.query)
    answer = await server.cacher(resource).get(info.namespace or None, info.name, options.resource_version)
    if answer.object is None:
        raise not_found(resource, info.name)
    await send_object(server, call, resource, answer.object, form)


async def send_object(
    server: Server, call: Call, resource: Resource, obj: StoredObject, form: Form, status: int = 200
) -> None:
    """Send a stored object: complete, as metadata only, or as a one-row Table."""
    if form.drop:
        obj = without_managed_fields(obj, form)
    renderer = _renderer(server, call, resource, form)
    call.rv = str(obj.rv)
    meter = call.meter
    began = perf_counter()
    if meter.large or obj.size >= renderer.large_bytes:
        meter.large = True
        meter.look()
        document = await compute_large(lambda: finished(renderer.whole(obj), form))
    else:
        document = finished(renderer.whole(obj), form)
    meter.add_phase("encode", (perf_counter() - began) * 1000.0)
    if call.objects is not None:
        own = _renderer(server, call, resource, replace(form, media_type=JSON, pretty=False))
        call.objects.answered(await compute(own.whole, obj))
    await send_document(call, document, form, status)


async def send_tree(
    server: Server, call: Call, resource: Resource, obj: dict[str, Any], form: Form, status: int = 200
) -> None:
    """Send an object that is not stored: the result of a dry run, or the final state of a deleted object.

    As upstream (registry/generic/registry/dryrun.go), it is encoded for storage and decoded.
    """
    if form.drop:
        metadata = obj.get("metadata") or {}
        obj = {**obj, "metadata": {name: metadata[name] for name in metadata if name != "managedFields"}}
    renderer = _renderer(server, call, resource, form)
    text = await compute(_read_back, server.services.codec, obj, resource)
    document = await compute(lambda: finished(renderer.of_document(text), form))
    if call.objects is not None:
        own = _renderer(server, call, resource, replace(form, media_type=JSON, pretty=False))
        call.objects.answered(await compute(own.of_document, text))
    await send_document(call, document, form, status)


def _read_back(codec: StoredCodec, obj: dict[str, Any], resource: Resource) -> bytes:
    if not resource.stored:
        return to_json(obj)
    revision = (obj.get("metadata") or {}).get("resourceVersion")
    raw = codec.encode_object(obj, resource)
    if resource.schemas:
        raw = Shaper(resource.schemas).shaped(raw)
    return codec.object_json(raw, int(revision) if revision else None, resource.api_version)


async def send_other(server: Server, call: Call, obj: dict[str, Any], form: Form, status: int = 200) -> None:
    """Send a Status or a Scale, which `as=` never transforms."""
    if obj["kind"] == "Status":
        call.status = obj
    document = await compute(to_json, obj)
    if call.objects is not None:
        call.objects.answered(document)
    if form.media_type == PROTOBUF:
        document = await compute(server.services.codec.messages.document, document)
    await send_document(call, await compute(finished, document, form), form, status)


async def send_document(call: Call, document: bytes, form: Form, status: int = 200) -> None:
    """Send a complete document that is a response of the API."""
    call.meter.encoded_bytes += len(document)
    call.meter.reach(len(document))
    call.stamp()
    began = perf_counter()
    if status != 200:
        await call.response.whole(status, form.media_type, document)
    elif accepts_gzip(call.request.accept_encoding):
        body = Body(call.response, form.media_type, gzip=True)
        await body.write(document)
        await body.end()
    else:
        await call.response.start(200, form.media_type)
        await call.response.end(document)
    call.meter.add_phase("send", (perf_counter() - began) * 1000.0)


def _renderer(server: Server, call: Call, resource: Resource, form: Form) -> ObjectForm:
    include = call.request.parameter("includeObject") if form.target == "Table" else ""
    return object_form(form, resource, server.services.codec, include=include, of_list=False)


def finished(document: bytes, form: Form) -> bytes:
    """Add YAML or indentation if requested, else a newline."""
    if form.media_type == PROTOBUF:
        return document
    if form.media_type == YAML:
        return yaml_of(document)
    if form.pretty:
        return msgspec.json.format(document, indent=2).rstrip()
    return document if document.endswith(b"\n") else document + b"\n"
