"""Documents that are answered but not stored: reviews and token requests."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import Form, negotiate
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.telemetry.off_loop import compute
from ktui.writes import request_body
from ktui.writes.metadata.objectmeta import metadata_of
from ktui.writes.options import write_options

Obj = dict[str, Any]


async def sent_review(server: Server, call: Call, resource: Resource) -> tuple[Form, Obj]:
    """Return the form of the answer and the sent document; raise StatusError 400, 406, 413 or 415."""
    form = negotiate(call.request.accept, custom=False, pretty=call.request.wants_pretty)
    write_options(call.request, "CreateOptions")
    body = await request_body.read_body(server, call)
    review = await compute(request_body.sent_document, server, body, resource.api_version, resource.kind)
    return form, review


async def answer_review(server: Server, call: Call, resource: Resource, review: Obj, form: Form) -> None:
    """Send 201 with the review and its status."""
    metadata = dict(metadata_of(review))
    metadata.pop("managedFields", None)
    answer = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
    rest = {name: value for name, value in review.items() if name not in answer}
    await send_other(server, call, answer | rest, form, 201)
