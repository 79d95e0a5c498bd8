"""Write a growing audit log of a running server's requests, from its telemetry."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ktui.audit.formats.log_record import LoggedRequest
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.contract.events.own_server import RequestFinished, RequestStarted
from tests.unit.audit.logs import audit_event

MICROS = 1_000_000


async def write_audit_log(connection: ServerConnection, log: Path) -> None:
    """Append an Event to `log` for each answered request, until cancelled."""
    client = ApiClient(connection)
    started: dict[int, RequestStarted] = {}
    try:
        with log.open("ab", buffering=0) as stream:
            async for events in client.telemetry():
                lines = []
                for event in events:
                    if isinstance(event, RequestStarted):
                        started[event.id] = event
                    elif isinstance(event, RequestFinished) and (begun := started.pop(event.id, None)):
                        lines.append(audit_event(_logged(begun, event)) + b"\n")
                await asyncio.to_thread(stream.write, b"".join(lines))
    finally:
        await client.close()


def _logged(begun: RequestStarted, done: RequestFinished) -> LoggedRequest:
    target = f"{begun.path}?{begun.query}" if begun.query else begun.path
    return LoggedRequest(
        begun.verb.lower(), target, begun.user_agent, begun.user or "system:admin",
        int(done.at * MICROS), int(done.ms * 1000), done.status, id=f"{done.id}-{int(done.at * MICROS)}",
    )  # fmt: skip
