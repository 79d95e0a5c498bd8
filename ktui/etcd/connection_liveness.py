"""Detect dead connections to etcd that report no error, and replace them.

A connection whose packets are dropped (by a firewall, a NAT or a load balancer) reports no error: calls on it
wait. Only another connection can distinguish it from an etcd that is stopped or busy. So a silent connection
gets a read of one key; without a response, new connections to all endpoints get the same read. The first one
that answers replaces it, and all calls on the silent one end with ConnectionLostError. If none answers,
nothing changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ktui.etcd import grpc_errors
from ktui.etcd.connection import EtcdConnection
from ktui.etcd.errors import EtcdError, PermissionDeniedError
from ktui.etcd.transport import Transport

TICK_SECONDS = 0.5
POLL_SECONDS = 5.0  # one Status RPC, which etcd answers from memory
# The status poll is answered every 5 s, so a healthy connection gets no further read.
QUIET_SECONDS = 5.5
ANSWER_SECONDS = 3.0  # for the response to a small read, before other connections are tried
HEARD_SECONDS = QUIET_SECONDS + 2.0  # etcd answers on every working connection within this time
REPLACE_SECONDS = 5.0  # for a new connection to be established and answered
# When a stopped etcd continues, an old and a new connection answer at about the same time.
GRACE_SECONDS = 1.0

log = logging.getLogger(__name__)


class Liveness:
    """Checks all connections in use."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._endpoints = transport.endpoints

    async def run(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._endpoints.tidy()
            for connection in self._endpoints.open():
                if connection.silent_seconds >= QUIET_SECONDS:
                    await self.check(connection)

    async def check(self, connection: EtcdConnection) -> None:
        """Send a read over a silent connection; return once it is answered, has failed, or was replaced."""
        ledger = self._transport.ledger
        ping = asyncio.ensure_future(self._transport.ping(connection))
        try:
            await asyncio.wait((ping,), timeout=ANSWER_SECONDS)
            if not ping.done():
                silent = grpc_errors.silent(connection.endpoint, connection.silent_seconds)
                log.info("%s", silent)
                if connection is self._endpoints.connection():
                    ledger.failed(silent)
                await self._replace(connection, ping)
            if connection.lost or (ping.done() and ping.result()):
                ledger.answered()
        finally:
            await _cancelled(ping)

    async def _replace(self, silent: EtcdConnection, ping: asyncio.Future[bool]) -> None:
        """Wait until `ping` is answered, or another connection answers instead."""
        while not ping.done():
            current = self._endpoints.connection()
            others = [current] if current is not silent else self._endpoints.fresh()
            answering = None
            try:
                answering = await self._first_answering(others, ping)
                if answering is not None:
                    await asyncio.wait((ping,), timeout=GRACE_SECONDS)
                if answering is not None and not ping.done():
                    self._endpoints.replace(silent, answering)
                    silent.give_up()
                    log.warning(
                        "etcd %s: a connection is dead; now using %s", silent.endpoint, answering.endpoint
                    )
                    return
            finally:
                kept = self._endpoints.connection()
                for other in others:
                    if other not in (kept, current):
                        await other.close()

    async def _first_answering(
        self, others: list[EtcdConnection], ping: asyncio.Future[bool]
    ) -> EtcdConnection | None:
        """Return the first of `others` that answers; None if `ping` ends before, or none answers in time."""
        pings: dict[asyncio.Future[bool], EtcdConnection] = {
            asyncio.ensure_future(self._transport.ping(other)): other for other in others
        }
        pending: set[asyncio.Future[bool]] = {ping, *pings}
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(REPLACE_SECONDS):
                    while not ping.done():
                        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                        for one in done - {ping}:
                            if one.result():
                                return pings[one]
        finally:
            await _cancelled(*pings)
        return None


async def _cancelled(*futures: asyncio.Future[bool]) -> None:
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)


async def poll_status(status: Callable[[], Awaitable[object]]) -> None:
    """Ask for `status` until cancelled or denied, so that etcd's silence, size and alarms are noticed."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        try:
            await status()
        except PermissionDeniedError:
            return
        except EtcdError:
            continue  # the ledger has reported the error
