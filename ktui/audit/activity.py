"""Requests by resource and client from an audit log that a dashboard follows next to other sources."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from ktui.audit.client import Client
from ktui.audit.growing_logs import LiveTally, follow
from ktui.audit.tally import Tally
from ktui.contract.events import AnyEvent
from ktui.contract.events.live import ClientShare, ResourceAsked

EVERY = 5.0  # seconds between two counts
MOST_CLIENTS = 5


async def audit_activity(name: str) -> AsyncIterator[list[AnyEvent]]:
    """Follow a log, and yield changed ResourceAsked events every few seconds until closed. Raises OSError."""
    live, problems = LiveTally(Tally(datetime.now(UTC))), list[OSError]()

    def read() -> None:
        try:
            follow(name, live)
        except OSError as error:
            problems.append(error)
            live.ended.set()

    threading.Thread(target=read, name="audit log", daemon=True).start()
    sent: dict[str, ResourceAsked] = {}
    try:
        while not problems:
            found = {item.resource: item for item in await asyncio.to_thread(requests_by_resource, live)}
            if changed := [item for name, item in found.items() if sent.get(name) != item]:
                sent = found
                at = time.time()
                yield [_at(item, at) for item in changed]
            await asyncio.to_thread(live.ended.wait, EVERY if live.caught_up.is_set() else EVERY / 10)
        raise problems[0]
    finally:
        live.ended.set()


def _at(item: ResourceAsked, at: float) -> ResourceAsked:
    return ResourceAsked(
        at=at, resource=item.resource, requests=item.requests, lists=item.lists, span=item.span,
        clients=item.clients,
    )  # fmt: skip


def requests_by_resource(live: LiveTally) -> list[ResourceAsked]:
    """Return the requests read so far by resource, with the clients that sent most."""
    requests: dict[str, Counter[str]] = {}
    lists: Counter[str] = Counter()
    with live.lock:
        span = max((period.seconds for period in live.tally.spans.values()), default=0.0)
        groups = list(live.tally.groups)
        for group in groups:
            resource = group.key.shape.resource
            if not resource:
                continue
            requests.setdefault(resource, Counter())[_name(group.key.client)] += group.count
            lists[resource] += group.count if group.key.shape.verb == "list" else 0
    return [
        ResourceAsked(
            resource=resource, requests=counts.total(), lists=lists[resource], span=span,
            clients=[ClientShare(client, count) for client, count in counts.most_common(MOST_CLIENTS)],
        )
        for resource, counts in requests.items()
    ]  # fmt: skip


def _name(client: Client) -> str:
    """Return user agent and account: `kubelet/v1.36.2 system:node:*`."""
    return " ".join(part for part in client if part) or "unknown"
