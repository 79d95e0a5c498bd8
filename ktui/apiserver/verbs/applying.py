"""PATCH with application/apply-patch+yaml: server-side apply."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.http.yamltext import read_yaml
from ktui.apiserver.negotiation import Form
from ktui.apiserver.objects.body import json_type
from ktui.apiserver.objects.fitting import Unfit
from ktui.apiserver.objects.managed.apply import Apply
from ktui.apiserver.objects.options import WriteOptions, write_options
from ktui.apiserver.objects.trees import copied
from ktui.apiserver.objects.update import UpdateContext, check_identity
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import create, writing
from ktui.apiserver.verbs.changing import apply_change
from ktui.apiserver.verbs.shaping import undeclared
from ktui.kube.fielderrors import invalid_object, required
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bad_request, bare_error

Obj = dict[str, Any]


async def handle(server: Server, call: Call, resource: Resource, form: Form, body: bytes) -> None:
    """Merge the configuration into the object, or create it from the configuration."""
    if not call.request.parameter("fieldManager"):
        error = required("fieldManager", "is required for apply patch")
        raise invalid_object("PatchOptions", "meta.k8s.io", "", [error])
    options = write_options(call.request, "PatchOptions")
    config = _configuration(body)
    info = call.info
    apply = Apply(config, options.field_manager, resource, info.subresource, call.request.flag("force"))
    context = UpdateContext(
        resource,
        info.namespace,
        info.name,
        info.subresource,
        options.field_manager,
        whole=False,
        apply=apply,
    )

    def change(old: Obj) -> Obj:
        _check_declared(server, config, resource)
        new = apply.merged(old)
        check_identity(new, context)
        return new

    try:
        await apply_change(server, call, context, change, form, options)
    except StatusError as error:
        if error.code != 404 or info.subresource:
            raise
        await _create(server, call, context, apply, options, form)


async def _create(
    server: Server, call: Call, context: UpdateContext, apply: Apply, options: WriteOptions, form: Form
) -> None:
    resource = context.resource
    _check_declared(server, apply.config, resource)
    new = copied(apply.config)
    check_identity(new, context)
    obj = await create.prepare(server, call, new, resource, options, apply=apply)
    if options.dry_run:
        await writing.answer_tree(call, obj, form, 201)
        return
    stored = await create.store_new(server, obj, resource)
    await send_object(server, call, resource, stored, form, 201)


def _configuration(body: bytes) -> Obj:
    """The body, YAML or JSON; StatusError 400."""
    try:
        document = read_yaml(body)
    except ValueError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    if not isinstance(document, dict):
        raise bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{json_type(document)} into Go value of type map[string]interface {{}}"
        )
    if (document.get("metadata") or {}).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    config: Obj = document
    return config


def _check_declared(server: Server, config: Obj, resource: Resource) -> None:
    """StatusError 500, as upstream gives it, for fields that the type does not have."""
    try:
        paths = undeclared(server, config, resource)
    except Unfit:
        return  # told later, in other words
    if not paths:
        return
    faults = [f".{path}: field not declared in schema" for path in paths]
    metadata = config.get("metadata") or {}
    named = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    text = faults[0] if len(faults) == 1 else "\n  ".join(["errors:", *faults])
    raise bare_error(f"failed to create typed patch object ({named}; {kind}): {text}")
