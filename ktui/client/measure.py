"""Firing a request and taking down everything that both sides know of its cost.

The client's clock gives first byte and total; the server's account of exactly
this request (by its id) gives what was read, decoded and sent. Bodies are
counted as they stream by, and kept only where the caller writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median_low
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ktui.client.accounts import Accounts
from ktui.client.api import ApiClient, Fired
from ktui.client.connection import ClientError
from ktui.client.listbody import Envelope, ListBody
from ktui.client.measured import Measured, joined_route
from ktui.kube.requestinfo import parse_path, request_verb, split_url

Keep = Callable[[bytes], object]

NO_ACCOUNT = "the server's own account of this request did not arrive: counts may be low"


def verb_of(path: str) -> str:
    """GET, LIST or WATCH."""
    plain, query = split_url(path)
    return request_verb("GET", parse_path(plain), query)


async def fire_measured(
    client: ApiClient, path: str, *, all_pages: bool = False, keep: Keep | None = None
) -> Measured:
    """Fire `path` at a ktui server (and, with `all_pages`, what its continue tokens lead to).

    `keep` gets the chunks of every body. Raises ClientError.
    """
    accounts = Accounts(client)
    await accounts.begin()
    measured = Measured(path)
    page = path
    while page:
        fired, body = await fire_counted(client, page, keep)
        envelope = body.envelope()
        add_page(measured, fired, body.items, envelope)
        await _add_account(measured, fired, accounts)
        token = envelope.metadata.continue_token
        page = next_page(path, token) if all_pages and token and fired.status == 200 else ""
    return measured


async def fire_counted(client: ApiClient, path: str, keep: Keep | None = None) -> tuple[Fired, ListBody]:
    """One GET whose body is only counted."""
    body = ListBody(collection=verb_of(path) == "LIST")

    def take(chunk: bytes) -> None:
        body.feed(chunk)
        if keep is not None:
            keep(chunk)

    return await client.fire(path, on_chunk=take), body


def add_page(measured: Measured, fired: Fired, items: int, envelope: Envelope) -> None:
    """Add what the answer itself tells."""
    measured.pages += 1
    measured.status = fired.status
    measured.first_route = measured.first_route or fired.route
    measured.route = joined_route(measured.route, fired.route)
    if not measured.reason_id:
        measured.reason_id, measured.reason = fired.reason
    measured.first_byte_ms = measured.first_byte_ms or fired.first_byte_ms
    measured.total_ms += fired.total_ms
    measured.body_bytes += fired.body_bytes
    if "seats" in fired.cost:
        measured.seats = max(measured.seats or 0, fired.cost["seats"])
    measured.items += items
    measured.rv = envelope.metadata.resource_version or measured.rv
    measured.message = (envelope.message or f"HTTP {fired.status}") if fired.status >= 400 else ""


async def _add_account(measured: Measured, fired: Fired, accounts: Accounts) -> None:
    account = await accounts.of(fired.request_id)
    if account is not None:
        measured.add_account(account)
        return
    measured.add_cost(fired.cost)
    if fired.request_id and NO_ACCOUNT not in measured.remarks:
        measured.remarks.append(NO_ACCOUNT)


def next_page(path: str, token: str) -> str:
    """The path of the page after `token`: a concrete resourceVersion may not go with it."""
    parts = urlsplit(path)
    kept = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if key not in ("continue", "resourceVersion", "resourceVersionMatch")
    ]
    return f"{parts.path}?{urlencode([*kept, ('continue', token)], quote_via=quote)}"


def middle_run(runs: list[Measured]) -> Measured:
    """The run with the median time; the lower of the two middle ones of an even number."""
    if not runs:
        raise ClientError("nothing was measured")
    middle = median_low([run.total_ms for run in runs])
    return next(run for run in runs if run.total_ms == middle)
