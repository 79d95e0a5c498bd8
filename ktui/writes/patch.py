"""PATCH: merge patch, JSON patch, strategic merge patch, and server-side apply."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.server import Server
from ktui.kube.fielderrors import within_limit
from ktui.kube.json_trees import Obj, copied
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, bare_error, conflict
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body, stored_objects
from ktui.writes.before_update import check_identity
from ktui.writes.create import Creation, create
from ktui.writes.decoding.body import APPLY, IGNORE, STRICT, WARN, SentBody, described, first, json_type
from ktui.writes.decoding.typed_objects import undeclared
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.typed_config import sentence, type_faults
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import write_options
from ktui.writes.own_objects import update_or_create
from ktui.writes.patches.patch_documents import (
    JSON_PATCH,
    STRATEGIC,
    of_json_patch,
    of_merge_patch,
    patch_document,
    patch_type,
    patched,
)
from ktui.writes.update import Update, context_of


async def apply(server: Server, call: Call, resource: Resource, form: Form, body: SentBody) -> None:
    """Merge the configuration into the object, or create the object from it."""
    options = write_options(call.request, "PatchOptions", applies=True)
    config = configuration(body, resource)
    metadata = config.get("metadata")
    if not isinstance(metadata, dict | None):
        await compute(check_declared, server, config, resource)
    if isinstance((metadata or {}).get("managedFields"), list):
        raise bad_request("metadata.managedFields must be nil")
    apply = Apply(config, options.field_manager, resource, call.info.subresource, call.request.flag("force"))
    context = replace(context_of(server, call, resource, options), apply=apply)
    strict, faults = options.validation == STRICT, body.duplicates if options.validation == WARN else ()

    def check_keys() -> None:
        if strict and body.duplicates:
            why = f"error converting YAML to JSON: {body.duplicates[0]}"
            raise bad_request(f"error strict decoding YAML: {why}")

    def change(old: Obj) -> Obj:
        check_declared(server, config, resource)
        new = apply.merged(old)
        check_keys()
        check_identity(new, context)  # the name may come from the object itself
        return new

    async def create_it() -> None:
        await compute(check_declared, server, config, resource)
        check_keys()
        new = await compute(copied, config)
        check_identity(new, context)
        metadata_of(new).pop("resourceVersion", None)
        if uid := metadata_of(new).get("uid"):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(resource, context.name, why)
        await create(
            server, call, Creation(resource, new, options, first(faults), apply=apply, authorized=False), form
        )

    update = partial(Update(server, call, form, options, context, first(faults)).apply, change)
    await (update() if call.info.subresource else update_or_create(update, create_it))


def configuration(body: SentBody, resource: Resource) -> Obj:
    """Return the parsed body, YAML or JSON; raise StatusError 400."""
    try:
        document = body.document() if body else None
    except ValueError as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if document is not None and not isinstance(document, dict):
        why = f"cannot unmarshal {json_type(document)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: json: {why}")
    document = document or {}
    texts = (document.get(name) for name in ("apiVersion", "kind"))
    named = tuple(text if isinstance(text, str) else "" for text in texts)
    if named[0].count("/") > 1:  # no version, and so no kind
        named = "", ""
    if named != (resource.api_version, resource.kind):
        group, _, version = named[0].rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={named[1]}")
    config: Obj = document
    return config


def check_declared(server: Server, config: Obj, resource: Resource) -> None:
    """Raise upstream's StatusError 500 for undeclared fields, values of a wrong type, items without keys."""
    faults = list(within_limit(type_faults(config, resource)))
    if not faults:
        faults = [f".{path}: field not declared in schema" for path in undeclared(server, config, resource)]
    if not faults:
        return
    why = f"failed to create typed patch object ({described(config, resource)})"
    raise bare_error(f"{why}: {sentence(faults)}")


async def handle(server: Server, call: Call, resource: Resource) -> None:
    kind = patch_type(call, resource)
    form, body = await request_body.begin(server, call, resource)
    if kind == APPLY:
        await apply(server, call, resource, form, body)
        return
    options = write_options(call.request, "PatchOptions")
    try:
        document = await compute(patch_document, kind, body, strict=options.validation != IGNORE)
    except StatusError:
        # A missing object is reported first.
        await stored_objects.current(server, resource, call.info.namespace, call.info.name)
        raise
    faults = () if kind == JSON_PATCH else body.duplicates
    touched = await compute(of_json_patch if kind == JSON_PATCH else of_merge_patch, document)
    strategic = document if kind == STRATEGIC else None
    context = replace(context_of(server, call, resource, options), touched=touched, strategic=strategic)

    def change(old: Obj) -> Obj:
        new = patched(kind, old, document, resource.api_version, resource.kind)
        if kind == STRATEGIC:  # the converter takes any texts: the type is that of the path
            for name, own in (("kind", resource.kind), ("apiVersion", resource.api_version)):
                new[name] = own if isinstance(new.get(name), str | None) else new[name]
        metadata = new.get("metadata")
        if isinstance(metadata, dict) and metadata.get("resourceVersion") is None:
            metadata.pop("resourceVersion", None)
        return new

    await Update(server, call, form, options, context, first(faults)).apply(change)
