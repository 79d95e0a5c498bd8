"""One request with everything that both sides know of its cost.

The client's clock gives first byte and total; the server's telemetry gives what
was read, decoded and sent for exactly this request (matched by its id).
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from ktui.client.api import ApiClient, Fired
from ktui.telemetry.events import AnyEvent, RequestFinished

# The server publishes the end of a request right after its last byte.
TELEMETRY_SECONDS = 3.0

_COUNTERS = ("fetched", "evaluated", "matched", "returned", "etcd_rpcs", "etcd_keys", "etcd_bytes",
             "decoded_bytes", "encoded_bytes", "sent_bytes")  # fmt: skip


class _Meta(msgspec.Struct, rename={"continue_": "continue", "resource_version": "resourceVersion"}):
    resource_version: str = ""
    continue_: str = ""


class _Answer(msgspec.Struct):
    kind: str = ""
    message: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[msgspec.Raw] | None = None


@dataclass(slots=True)
class Measured:
    """A GET, a LIST, or all pages of one (then counters and times are sums)."""

    path: str
    status: int = 0
    route: str = ""
    reason_id: str = ""
    reason: str = ""
    items: int = 0
    rv: str = ""
    message: str = ""
    pages: int = 0
    seats: int = 0
    first_byte_ms: float = 0.0
    total_ms: float = 0.0
    body_bytes: int = 0
    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTERS, 0))
    phases: dict[str, float] = field(default_factory=dict)
    body: bytes = b""
    complete: bool = True  # False: the server's own account of a page did not arrive

    @property
    def amplification(self) -> float:
        """Bytes processed for each byte returned; 0 when nothing was."""
        processed = max(self.counters["etcd_bytes"], self.counters["decoded_bytes"])
        return round(processed / self.body_bytes, 2) if self.body_bytes else 0.0

    def document(self) -> dict[str, Any]:
        """What `ktui list --json` prints."""
        counters = self.counters
        return {
            "path": self.path,
            "status": self.status,
            "route": self.route,
            "reason_id": self.reason_id,
            "reason": self.reason,
            "message": self.message,
            "items": self.items,
            "rv": self.rv,
            "pages": self.pages,
            "etcd": {name: counters[f"etcd_{name}"] for name in ("rpcs", "keys", "bytes")},
            "objects": {name: counters[name] for name in ("fetched", "evaluated", "matched", "returned")},
            "bytes": {name: counters[f"{name}_bytes"] for name in ("decoded", "encoded", "sent")},
            "ms": {
                **self.phases,
                "first_byte": round(self.first_byte_ms, 3),
                "total": round(self.total_ms, 3),
            },
            "seats": self.seats,
            "amplification": self.amplification,
        }


async def fire_measured(client: ApiClient, path: str, *, all_pages: bool = False) -> Measured:
    """Fire `path` (and, with `all_pages`, what its continue tokens lead to). Raises ClientError."""
    measured = Measured(path)
    accounts: dict[int, RequestFinished] = {}
    arrived = asyncio.Event()
    reader = asyncio.create_task(_collect(client, accounts, arrived))
    try:
        await _subscribed(reader, arrived)
        page = path
        while page:
            fired = await client.fire(page, keep_body=True)
            token = _add_page(measured, fired)
            _add_account(measured, await _account_of(fired.request_id, accounts, arrived))
            page = _next_page(path, token) if all_pages and token else ""
    finally:
        reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reader
    return measured


async def _collect(client: ApiClient, accounts: dict[int, RequestFinished], arrived: asyncio.Event) -> None:
    async for batch in client.telemetry():
        _keep(batch, accounts)
        arrived.set()


def _keep(batch: list[AnyEvent], accounts: dict[int, RequestFinished]) -> None:
    for event in batch:
        if isinstance(event, RequestFinished):
            accounts[event.id] = event


async def _subscribed(reader: asyncio.Task[None], arrived: asyncio.Event) -> None:
    """The stream's first events say that later ones will not be missed."""
    first = asyncio.create_task(arrived.wait())
    await asyncio.wait({reader, first}, return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    if reader.done():
        reader.result()  # raises the ClientError


async def _account_of(
    request_id: int, accounts: dict[int, RequestFinished], arrived: asyncio.Event
) -> RequestFinished | None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(TELEMETRY_SECONDS):
            while request_id and request_id not in accounts:
                arrived.clear()
                await arrived.wait()
    return accounts.get(request_id)


def _add_page(measured: Measured, fired: Fired) -> str:
    """Add what the answer itself tells; returns its continue token."""
    measured.pages += 1
    measured.status = fired.status
    measured.route = fired.route or measured.route
    measured.reason_id, measured.reason = (
        fired.reason if fired.reason[0] else (measured.reason_id, measured.reason)
    )
    measured.first_byte_ms = measured.first_byte_ms or fired.first_byte_ms
    measured.total_ms += fired.total_ms
    measured.body_bytes += fired.body_bytes
    measured.seats = max(measured.seats, fired.cost.get("seats", 0))
    measured.body = fired.body or b""
    answer = _decode(measured.body)
    measured.items += len(answer.items or ())
    measured.rv = answer.metadata.resource_version or measured.rv
    measured.message = answer.message if fired.status >= 400 else ""
    return answer.metadata.continue_


def _add_account(measured: Measured, account: RequestFinished | None) -> None:
    if account is None:
        measured.complete = False
        return
    for name in _COUNTERS:
        measured.counters[name] += getattr(account, name)
    for name, ms in account.phases.items():
        measured.phases[name] = round(measured.phases.get(name, 0.0) + ms, 3)


def _decode(body: bytes) -> _Answer:
    try:
        return msgspec.json.decode(body, type=_Answer)
    except msgspec.DecodeError:
        return _Answer(message=body[:300].decode("utf-8", "replace"))


def _next_page(path: str, token: str) -> str:
    """The path of the page after `token`: a concrete resourceVersion may not go with it."""
    parts = urlsplit(path)
    kept = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if key not in ("continue", "resourceVersion", "resourceVersionMatch")
    ]
    return f"{parts.path}?{urlencode([*kept, ('continue', token)], quote_via=quote)}"
