"""Who asks for which resource, by an audit log that is followed while a dashboard shows other sources."""

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
    """What a growing log has of each resource, every few seconds, until closed. Raises OSError."""
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
            found = {item.resource: item for item in await asyncio.to_thread(asked, live)}
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


def asked(live: LiveTally) -> list[ResourceAsked]:
    """Requests by resource and client, of what was read so far."""
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
    """`kubelet/v1.36.2 system:node:*`."""
    return " ".join(part for part in client if part) or "unknown"
