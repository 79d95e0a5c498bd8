"""Send small, complete responses."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgspec.json

from ktui.apiserver.answer import finished
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.negotiation import PROTOBUF, Form, whole_form
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.status import StatusError

if TYPE_CHECKING:
    from ktui.wire.stored_codec import Messages

JSON = "application/json"
LONGEST_PATH = 200  # characters of a path in a log line or an error

log = logging.getLogger(__name__)


async def send_json(response: Response, document: Any, status: int = 200, media_type: str = JSON) -> None:
    """Send a JSON document."""
    await response.whole(status, media_type, msgspec.json.encode(document) + b"\n")


async def send_negotiated(
    response: Response, document: Any, request: Request, messages: Messages, status: int = 200
) -> None:
    """Send an API document in the first form that the client accepts, in JSON if there is none.

    An error in no accepted form is indented, as upstream does without negotiation.
    """
    accepted = whole_form(request.accept)
    media_type = accepted.media_type if accepted else JSON
    if media_type == PROTOBUF and document["kind"] != "Status":
        media_type = JSON  # there is no protobuf message for lists of APIs
    pretty = accepted.pretty if accepted else document["kind"] == "Status"
    form = Form(media_type, pretty=pretty or request.wants_pretty)
    body = to_json(document)
    if form.media_type == PROTOBUF:
        body = messages.document(body)
    await response.whole(status, form.media_type, finished(body, form))


async def send_error(response: Response, error: StatusError, request: Request, messages: Messages) -> None:
    """Send an error's Status in the first form that the client accepts."""
    response.add_headers((name.lower(), value) for name, value in error.headers.items())
    await send_negotiated(response, error.body(), request, messages, error.code)


def log_refusal(request: Request, error: StatusError) -> None:
    """Log an error that is not caused by a client of the Kubernetes API."""
    path = quote(request.path[:LONGEST_PATH])
    log.info("%d for %s %s from %s: %s", error.code, request.method, path, request.peer, error.message)
