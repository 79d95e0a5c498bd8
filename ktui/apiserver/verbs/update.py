"""PUT: replace an object, its status or its finalizers."""

from __future__ import annotations

from ktui.apiserver.call import Call
from ktui.apiserver.objects.body import duplicate_fields
from ktui.apiserver.objects.fitting import duplicate_texts
from ktui.apiserver.objects.metadata import metadata_of
from ktui.apiserver.objects.options import write_options
from ktui.apiserver.objects.update import check_identity, uid_conflict
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.apiserver.verbs.changing import apply_change, context_of
from ktui.apiserver.verbs.create import Creation, create
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
        "runtimeclasses",
        "services",
    }
)


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await writing.begin(server, call, resource)
    options = write_options(call.request, "UpdateOptions")
    new = writing.sent_object(server, call, resource, body)
    context = context_of(server, call, resource, options, whole=True)
    check_identity(new, context)
    faults = duplicate_texts(duplicate_fields(body))
    try:
        await apply_change(server, call, context, lambda _: new, form, options, faults)
    except StatusError as error:
        if error.code != 404 or resource.resource not in CREATES or call.info.subresource:
            raise
        if uid := metadata_of(new).get("uid"):
            raise uid_conflict(context, uid, "") from None
        metadata_of(new).pop("resourceVersion", None)
        await create(server, call, Creation(resource, new, options, faults), form)
