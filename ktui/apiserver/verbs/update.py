"""PUT: replace an object, its status or its finalizers."""

from __future__ import annotations

from ktui.apiserver.answer import send_object
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form
from ktui.apiserver.objects.metadata import metadata_of
from ktui.apiserver.objects.options import WriteOptions, write_options
from ktui.apiserver.objects.update import UpdateContext, check_identity
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import create, writing
from ktui.apiserver.verbs.changing import Obj, apply_change
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

# Strategies with AllowCreateOnUpdate.
CREATES = frozenset(
    {
        "clusterrolebindings",
        "clusterroles",
        "endpoints",
        "events",
        "leases",
        "limitranges",
        "podtemplates",
        "resourcequotas",
        "rolebindings",
        "roles",
        "services",
    }
)


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await writing.begin(server, call, resource)
    options = write_options(call.request, "UpdateOptions")
    new = writing.sent_object(server, call, resource, body)
    context = UpdateContext(
        resource,
        call.info.namespace,
        call.info.name,
        call.info.subresource,
        options.field_manager,
        whole=True,
    )
    check_identity(new, context)
    try:
        await apply_change(server, call, context, lambda _: new, form, options)
    except StatusError as error:
        if error.code != 404 or resource.resource not in CREATES or call.info.subresource:
            raise
        await _create(server, call, resource, new, options, form)


async def _create(
    server: Server, call: Call, resource: Resource, new: Obj, options: WriteOptions, form: Form
) -> None:
    """A PUT to a name that is not there, where the strategy allows it."""
    metadata_of(new).pop("resourceVersion", None)
    obj = await create.prepare(server, call, new, resource, options)
    stored = await create.store_new(server, obj, resource)
    await send_object(server, call, resource, stored, form, 201)
