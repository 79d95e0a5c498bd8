"""Read small documents and parameters, and send small, complete responses."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from ktui.apiserver.answer import finished
from ktui.apiserver.call import REQUEST_SECONDS
from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response, header
from ktui.apiserver.negotiation import PROTOBUF, Form, whole_form
from ktui.documents.limits import DocumentError, check_nesting
from ktui.kube.golang.formatting import quote, to_json
from ktui.kube.golang.times import parse_duration
from ktui.kube.status import StatusError, bad_request, method_not_allowed, request_entity_too_large
from ktui.wire.stored_codec import Messages

Document = TypeVar("Document")


def number(request: Request, name: str, default: int) -> int:
    """Return a non-negative number, `default` if it is absent; raise StatusError 400 if it is not valid."""
    text = request.parameter(name)
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise bad_request(f"{name} must be a whole number, not {text!r}")
    return int(text)


def time_allowed(request: Request, minor: int) -> float:
    """Return the request's timeout in seconds: `?timeout=10s` (kubectl's --request-timeout), at most a
    minute.

    Raises StatusError 400 for an invalid value, before the client is authenticated. kube-apiserver 1.`minor`
    has the parameter since 1.20; WATCHes have their own `timeoutSeconds`.
    """
    text = request.parameter("timeout") if minor >= 20 else ""
    if not text:
        return REQUEST_SECONDS
    try:
        asked = parse_duration(text)
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from None
    return asked if 0.0 < asked < REQUEST_SECONDS else REQUEST_SECONDS


async def read_document(request: Request, document: type[Document], most: int) -> Document:
    """Return the body, a JSON document; raise StatusError 413 beyond `most` bytes, 400 if it is not valid."""
    try:
        body = await request.body(most)
        check_nesting(body)
        return msgspec.json.decode(body, type=document)
    except BodyTooLarge:
        raise request_entity_too_large(f"limit is {most}") from None
    except (DocumentError, msgspec.DecodeError) as error:
        raise bad_request(str(error)) from None


JSON = "application/json"
LONGEST_PATH = 200  # characters of a path in a log line or an error

log = logging.getLogger(__name__)


async def send_json(response: Response, document: Any, status: int = 200, media_type: str = JSON) -> None:
    await response.whole(status, media_type, msgspec.json.encode(document) + b"\n")


async def send_negotiated(
    response: Response, document: Any, request: Request, messages: Messages, status: int = 200
) -> None:
    """Send a document in the first accepted form, else as JSON; as upstream, an error is then indented."""
    accepted = whole_form(request.accept)
    media_type = accepted.media_type if accepted else JSON
    pretty = accepted.pretty if accepted else document["kind"] == "Status"
    form = Form(media_type, pretty=pretty or request.wants_pretty)
    body = to_json(document)
    if form.media_type == PROTOBUF:
        body = messages.document(body)
    await response.whole(status, form.media_type, finished(body, form))


async def send_error(response: Response, error: StatusError, request: Request, messages: Messages) -> None:
    """Send an error's Status in the first form that the client accepts."""
    response.add_headers(header(name.lower(), value) for name, value in error.headers.items())
    await send_negotiated(response, error.body(), request, messages, error.code)


def log_refusal(request: Request, error: StatusError) -> None:
    """Log an error that is not caused by a client of the Kubernetes API."""
    path = quote(request.path[:LONGEST_PATH])
    log.info("%d for %s %s from %s: %s", error.code, request.method, path, request.peer, error.message)


Page = Callable[[Request, Response], Awaitable[None]]


class PageRouter:
    """Finds exact paths first, then patterns with `{}` for one segment."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, ...], dict[str, Page]] = {}

    def add(self, method: str, path: str, page: Page) -> None:
        """Add a page; `method` "*" is for all methods without a page of their own."""
        self._pages.setdefault(_segments(path), {})[method] = page

    def find(self, method: str, path: str) -> Page | None:
        """Return the page, None if there is none; raise StatusError 405 if it does not support the method."""
        segments = _segments(path)
        methods = self._pages.get(segments) or next(
            (pages for pattern, pages in self._pages.items() if _fits(pattern, segments)), None
        )
        if methods is None:
            return None
        page = methods.get(method) or methods.get("*")
        if page is None:
            raise method_not_allowed()
        return page

    def paths(self) -> list[str]:
        return sorted("/" + "/".join(segments) for segments in self._pages)


def _fits(pattern: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    alike = len(pattern) == len(segments)
    return alike and all(part in ("{}", own) for part, own in zip(pattern, segments, strict=True))


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix("/").split("/"))
