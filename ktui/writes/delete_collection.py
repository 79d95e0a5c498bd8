"""DELETE of all objects that a LIST selects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ktui.apiserver.call import Call
from ktui.apiserver.forms.choose import object_form
from ktui.apiserver.server import Server
from ktui.apiserver.verbs.listing import send_list
from ktui.apiserver.verbs.selecting import selection_of
from ktui.cacher.requests import ListAnswer, ListRequest
from ktui.kube.listoptions import parse_list_options, read_list
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body
from ktui.writes.admission.webhooks import check_webhooks
from ktui.writes.delete import delete, sent_options
from ktui.writes.options import DeleteOptions

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject


# Since 1.28 a deletion without limit lists in pages of its own, so a resourceVersion means exactly that one.
PAGED_SINCE = 28
PAGE = 10_000


async def handle(server: Server, call: Call, resource: Resource) -> None:
    form, body = await request_body.begin(server, call, resource)
    options = parse_list_options(call.request.query)
    selectors = await compute(read_list, options, call.behaviour, resource)
    selection = selection_of(*selectors, call.info)
    deletion = await compute(sent_options, server, call, resource, body)
    request = ListRequest(call.info.namespace or None, None, options, selection)
    await check_webhooks(server, resource, call.info, "DELETE", None)
    call.writes()
    answer = await _delete_listed(server, resource, request, deletion, call.behaviour.minor)
    renderer = object_form(form, resource, server.services.codec, include="", of_list=True)
    await send_list(call, resource, answer, renderer, form)


async def _delete_listed(
    server: Server, resource: Resource, request: ListRequest, deletion: DeleteOptions, minor: int
) -> ListAnswer:
    """Delete page by page. The response is the first page's, with the objects of all pages."""
    options = request.options
    one_page = options.limit > 0 or minor < PAGED_SINCE
    if not one_page:
        options = replace(options, limit=PAGE)
    first: ListAnswer | None = None
    objects: list[StoredObject] = []
    while True:
        page = await server.cacher(resource).list(replace(request, options=options))
        for obj in page.objects:
            await _delete_listed_one(server, resource, obj, deletion)
        first = first or page
        objects += page.objects
        if one_page or not page.continue_:
            return replace(first, objects=objects)
        options = replace(options, continue_=page.continue_, resource_version="", resource_version_match="")


async def _delete_listed_one(
    server: Server, resource: Resource, obj: StoredObject, deletion: DeleteOptions
) -> None:
    try:
        await delete(server, resource, obj.namespace, obj.name, deletion)
    except StatusError as error:
        if error.code != 404:  # another client has already deleted it
            raise
