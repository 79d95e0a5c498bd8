"""Read the body of a write, and decode it into the object or document that the client sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.http.request import BodyTooLarge
from ktui.apiserver.negotiation import Form, negotiate, whole_form
from ktui.apiserver.parsing.pool import is_small
from ktui.apiserver.server import Server
from ktui.documents.limits import DocumentError, TooLarge
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj, copied, decoded
from ktui.kube.resources import Resource
from ktui.kube.status import (
    StatusError,
    forbidden_read_only,
    not_acceptable_form,
    other_namespace,
    request_entity_too_large,
)
from ktui.kube.structural.schema import may_be_slow
from ktui.telemetry.off_loop import compute
from ktui.wire.pb import CodecError
from ktui.wire.stored_codec import StoredCodec
from ktui.writes import definitions
from ktui.writes.admission.rights import GRANTS
from ktui.writes.decoding.body import (
    APPLY,
    MAGIC,
    NO_MESSAGE,
    PROTOBUF,
    YAML,
    SentBody,
    Unfit,
    decode_object,
    media_type,
    misfit,
    no_metadata,
    refused,
    unknown_texts,
)
from ktui.writes.decoding.typed_objects import shaped, warn
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.options import WriteOptions, write_options

YAML_TYPES = (YAML, APPLY)
SMALL_MESSAGE = 8 * 1024  # bytes of protobuf, which become several times as many bytes of JSON


async def begin(server: Server, call: Call, resource: Resource) -> tuple[Form, SentBody]:
    """Return the response's form and the body of an allowed write; raise StatusError 403, 406, 413 or 429."""
    form = negotiate(
        call.request.accept, custom=resource.custom, pretty=call.request.wants_pretty, drops=call.drops
    )
    if not server.services.facts.info().writable:
        raise forbidden_read_only(resource, call.info.name)
    if (
        resource.id == definitions.ID
        or resource.id in GRANTS
        or (resource.custom and may_be_slow(resource.schemas))
    ):
        # Patterns, rights, long lists and large defaults may take milliseconds.
        call.meter.large = True
    return form, await read_body(server, call)


async def read_body(server: Server, call: Call) -> SentBody:
    """Return the parsed body; raise StatusError 413 if it exceeds a limit."""
    try:
        raw = await call.request.body()
    except BodyTooLarge:
        raise request_entity_too_large() from None
    call.meter.hold(len(raw))
    sent = media_type(call.request.headers.get("content-type", ""))
    if not raw and sent == YAML:
        return SentBody(raw, sent)  # null
    if not raw:
        return SentBody(raw, sent, error=DocumentError("unexpected end of JSON input"))
    if not is_small(raw) or (sent == PROTOBUF and len(raw) > SMALL_MESSAGE):
        await call.enter_large(server.large_requests)
    try:
        body = await _parsed(server, raw, sent)
    except TooLarge as error:
        raise request_entity_too_large(str(error)) from None
    if call.objects is not None and body.tree is not None:
        call.objects.asked(await compute(copied, body.tree), len(raw))
    return body


async def _parsed(server: Server, raw: bytes, sent: str) -> SentBody:
    text = raw
    if sent == PROTOBUF:  # in the envelope of stored built-in kinds
        if not raw.startswith(MAGIC):
            return SentBody(raw, sent, message_error=ValueError(NO_MESSAGE))
        try:
            text = await compute(server.services.codec.object_json, raw, None, None)
        except CodecError as error:
            return SentBody(raw, sent, message_error=ValueError(error.reason))
    parse = server.parser.yaml if sent in YAML_TYPES else server.parser.json
    try:
        document = await parse(text)
    except TooLarge:
        raise
    except DocumentError as error:
        return SentBody(raw, sent, error=error)
    return SentBody(raw, sent, document.tree, document.duplicates)


async def keep_typed(server: Server, call: Call, resource: Resource, obj: Obj) -> None:
    """Keep the object, decoded and with its defaults, for the audit log; None if it cannot be decoded."""
    if call.objects is None:
        return
    try:
        typed, _ = await compute(shaped, server, obj, resource)
    except (Unfit, StatusError):
        call.objects.request = None
        return
    if revision := metadata_of(obj).get("resourceVersion"):  # which is not stored
        metadata_of(typed)["resourceVersion"] = revision
    call.objects.request = typed


def sent_object(server: Server, resource: Resource, body: SentBody) -> Obj:
    """Return the object that a client sent, as JSON, YAML or protobuf; raise StatusError 400 or 415."""
    codec = server.services.codec
    obj = decode_object(body, resource, codec.knows)
    metadata = obj.get("metadata")
    if metadata is None:
        return obj
    if resource.custom and not isinstance(metadata, dict):
        raise refused(resource, no_metadata(metadata))
    # The types of the metadata are checked first: with the message that Go has for the whole object.
    if codec.go_mismatch({"metadata": metadata}, resource.api_version, resource.kind):
        raise refused(resource, codec.go_mismatch(obj, resource.api_version, resource.kind))
    return obj


def sent_document(server: Server, call: Call, body: SentBody, kind: Resource, options: WriteOptions) -> Obj:
    """Return a document of `kind`, which is not stored (a Binding, a Scale); StatusError 400 or 415.

    Of unknown and repeated fields it warns, or they are the error.
    """
    codec = server.services.codec
    document = decode_object(body, kind, codec.knows)
    if fault := codec.go_mismatch(document, kind.api_version, kind.kind):
        raise refused(kind, fault)
    release = server.services.settings.behaviour.minor
    unknown = unknown_texts(codec.unknown_fields(document, kind.api_version, kind.kind, release))
    warn(call, options.warnings(body.faults(kind, unknown), partial(refused, kind)))
    return document


# Upstream: WipeObjectMetaSystemFields.
_SERVERS_OWN = (
    "creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
)  # fmt: skip


async def sent_review(
    server: Server,
    call: Call,
    resource: Resource,
    subresource: str = "",
    complete: Callable[[Obj], None] = lambda _: None,
) -> tuple[Form, Obj]:
    """Return the form of the answer, and the sent document as its type keeps it, with its managed fields.

    `complete` sets defaults.
    Raises StatusError 400 (also for another namespace than the path's), 406, 413 or 415.
    """
    request = call.request
    form = negotiate(request.accept, custom=False, pretty=request.wants_pretty, drops=call.drops)
    if form.target == "Table":  # which reviews do not have
        whole = whole_form(request.accept)
        if whole is None:
            raise not_acceptable_form()
        form = replace(whole, pretty=form.pretty)
    options = write_options(call.request, "CreateOptions")
    body = await read_body(server, call)
    review = await compute(sent_document, server, call, body, resource, options)
    review = await compute(_as_typed, server.services.codec, review, resource)
    complete(review)
    if call.objects is not None:
        call.objects.request = copied(review)
    metadata = metadata_of(review)
    if metadata.get("namespace", call.info.namespace) != call.info.namespace and resource.namespaced:
        raise other_namespace()
    for name in ("namespace", "managedFields", *(() if subresource else _SERVERS_OWN)):
        metadata.pop(name, None)
    if resource.namespaced:
        metadata["namespace"] = call.info.namespace
    track = partial(track_update, None, review, manager=options.field_manager, time=timestamp())
    await compute(lambda: track(resource=resource, subresource=subresource))
    return form, review


def _as_typed(codec: StoredCodec, review: Obj, resource: Resource) -> Obj:
    """Return the document without unknown and empty fields; StatusError 400 if its type has no such value."""
    whole = {**review, "apiVersion": resource.api_version, "kind": resource.kind}
    try:
        message = codec.messages.document(to_json(whole))
    except CodecError as error:
        raise misfit(resource.kind, resource.api_version, error.reason) from None
    typed: Obj = decoded(codec.object_json(message, None, resource.api_version))
    return typed


async def answer_review(server: Server, call: Call, resource: Resource, review: Obj, form: Form) -> None:
    """Send 201 with the review and its status."""
    answer = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata_of(review)}
    if form.target == "PartialObjectMetadata":
        answer |= {"kind": form.target, "apiVersion": form.meta_api_version}
        review = {}
    rest = {name: value for name, value in review.items() if name not in answer}
    await send_other(server, call, answer | rest, form, 201)
