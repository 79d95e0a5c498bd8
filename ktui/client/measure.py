"""Send a request and record its cost as measured by client and server.

The client measures first byte and total; the server's cost report for this request (by its id)
says what was read, decoded and sent. Bodies are counted while they are received, and kept only
if the caller stores them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ktui.client.connection import ClientError
from ktui.client.headers import header_number
from ktui.client.ktui_api import KtuiApi
from ktui.client.list_stream import ListBody
from ktui.client.watch_list_stream import InitialEvents
from ktui.core.lab.measured import Measured, joined_route
from ktui.kube.requestinfo import parse_path, request_verb, split_url

if TYPE_CHECKING:
    from ktui.client.api import ApiClient, TimedResponse

Body = ListBody | InitialEvents
Keep = Callable[[bytes], object]

NO_END = "the stream ended before the end of its initial events"
NO_ACCOUNT = "the server's cost report of this request did not arrive: counts may be low"


def verb_of(path: str) -> str:
    """Return GET, LIST or WATCH for a path with query."""
    plain, query = split_url(path)
    return request_verb("GET", parse_path(plain), query)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to send. With `all_pages`, the continue tokens of a LIST are followed to the end.

    A WATCH is read up to the end of its initial events. `client` is the User-Agent to
    send, "" for ktui's own; `accept` the media type, "" for plain JSON.
    """

    path: str
    all_pages: bool = False
    client: str = ""
    accept: str = ""
    traceparent: str = ""  # asks the server to trace it

    @property
    def headers(self) -> dict[str, str]:
        headers = {"User-Agent": self.client, "Accept": self.accept, "traceparent": self.traceparent}
        return {name: value for name, value in headers.items() if value}


async def pages(
    client: ApiClient, request: ApiRequest, keep: Keep | None
) -> AsyncIterator[tuple[TimedResponse, Body]]:
    """Send the request and yield each page. `keep` is called with every chunk. Raises ClientError."""
    page, last = request.path, ""
    while page:
        response, body = await _send_counted(client, page, request.headers, keep)
        yield response, body
        token = body.envelope().metadata.continue_token
        follow = request.all_pages and token and response.status == 200
        if follow and token == last:
            raise ClientError(f"{client.connection.url} repeats a page: its continue token does not change")
        page, last = (next_page(request.path, token) if follow else ""), token


async def send_measured(client: ApiClient, request: ApiRequest, keep: Keep | None = None) -> Measured:
    """Send a request to a ktui server and return its cost. Raises ClientError."""
    server = KtuiApi(client)
    await server.keep_requests()
    measured = Measured(request.path)
    async for response, body in pages(client, request, keep):
        add_page(measured, response, body)
        await _add_account(measured, response, server)
    return measured


async def _send_counted(
    client: ApiClient, path: str, headers: dict[str, str], keep: Keep | None
) -> tuple[TimedResponse, Body]:
    verb = verb_of(path)
    stream = InitialEvents() if verb == "WATCH" else None
    countable = verb == "LIST" and "protobuf" not in headers.get("Accept", "")
    body: Body = stream or ListBody(collection=countable)

    def receive(chunk: bytes) -> None:
        body.feed(chunk)
        if keep is not None:
            keep(chunk)

    if stream is None:
        return await client.send_timed(path, headers=headers, on_chunk=receive), body
    return await client.send_timed(path, headers=headers, on_chunk=receive, enough=stream.complete), body


def add_page(measured: Measured, fired: TimedResponse, body: Body) -> None:
    """Add what the response of a page contains."""
    envelope = body.envelope()
    measured.pages += 1
    if audit_id := fired.headers.get("audit-id", ""):
        measured.audit_ids.append(audit_id)
    measured.status = fired.status
    measured.first_route = measured.first_route or fired.route
    measured.route = joined_route(measured.route, fired.route)
    if not measured.reason_id:
        measured.reason_id, measured.reason = fired.reason
    after = fired.headers.get("retry-after", "")
    measured.retry_after = max(0, header_number(after))
    measured.first_byte_ms = measured.first_byte_ms or fired.first_byte_ms
    measured.total_ms += fired.total_ms
    measured.body_bytes += fired.body_bytes
    if "seats" in fired.cost:
        measured.seats = max(measured.seats or 0, fired.cost["seats"])
    measured.items += body.items
    metadata = envelope.metadata
    measured.rv = metadata.resource_version or measured.rv
    measured.continue_token, measured.remaining = metadata.continue_token, metadata.remaining
    measured.message = (envelope.message or f"HTTP {fired.status}") if fired.status >= 400 else ""
    if isinstance(body, InitialEvents) and fired.status == 200:
        measured.message = envelope.message or ("" if body.complete() else NO_END)


async def _add_account(measured: Measured, fired: TimedResponse, server: KtuiApi) -> None:
    account = await server.finished_request(fired.request_id) if fired.request_id else None
    if account is not None:
        measured.add_account(account)
        return
    measured.add_cost(fired.cost)
    if fired.request_id and NO_ACCOUNT not in measured.remarks:
        measured.remarks.append(NO_ACCOUNT)


def next_page(path: str, token: str) -> str:
    """Return the path of the page at `token`, which must not be sent with a resourceVersion."""
    parts = urlsplit(path)
    kept = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if key not in ("continue", "resourceVersion", "resourceVersionMatch")
    ]
    return f"{parts.path}?{urlencode([*kept, ('continue', token)], quote_via=quote)}"
