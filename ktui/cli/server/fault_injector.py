"""Inject faults between a server and the etcd that it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

from ktui.cli.logs import log_of
from ktui.contract.events import Marker
from ktui.contract.faults import Fault
from ktui.etcd import warden
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import EtcdError
from ktui.etcd.injection import Gateway, Proxy
from ktui.storage.compaction import compact
from ktui.telemetry.bus import Bus

SLOW_SECONDS = 0.1  # each way
LAST_WORDS_SECONDS = 0.05  # to answer the request that kills the server

log = log_of(__name__)

Undo = Callable[[], Awaitable[None]]


class FaultInjector:
    """Injects faults. Each one ends after its duration, or with `end`."""

    def __init__(self, embedded: EmbeddedEtcd, client: EtcdClient, bus: Bus) -> None:
        self._etcd = embedded
        self._client = client
        self._bus = bus
        self._active: dict[str, tuple[Fault, asyncio.Task[None]]] = {}
        self._beginning = asyncio.Lock()
        self._detours: dict[str, str] = {}  # URLs of proxies
        self._direct: EtcdClient | None = None

    @property
    def active(self) -> list[Fault]:
        return [fault for fault, _ in self._active.values()]

    async def inject(self, fault: Fault) -> None:
        """Begin a fault from `Fault.checked`. Raises ValueError if one of its kind is active, EtcdError."""
        async with self._beginning:
            if fault.kind in self._active:
                raise ValueError(f"the fault {fault.kind} still lasts: wait for its end, or end it")
            log.warning("fault: %s", fault)
            self._bus.publish(Marker(at=self._bus.now(), text=f"fault: {fault}"))
            undo = await self._begin(fault.kind)
            if undo is not None:
                task = asyncio.create_task(self._end_after(fault, undo), name=f"fault {fault.kind}")
                self._active[fault.kind] = fault, task

    async def end(self) -> None:
        tasks = [task for _, task in self._active.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def stop(self) -> None:
        await self.end()
        if self._direct is not None:
            await self._direct.close()

    async def _end_after(self, fault: Fault, undo: Undo) -> None:
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            self._active.pop(fault.kind, None)
            with suppress(EtcdError):  # etcd has ended meanwhile
                await undo()
            log.warning("end of the fault %s", fault.kind)
            self._bus.publish(Marker(at=self._bus.now(), text=f"end of fault: {fault.kind}"))

    async def _begin(self, kind: str) -> Undo | None:
        """Begin a fault; return a function that ends it, None if it is over at once."""
        match kind:
            case "pause":
                return await self._send_order(warden.PAUSE, warden.CONTINUE)
            case "restart":
                return await self._send_order(warden.KILL, warden.START)
            case "kill":
                asyncio.get_running_loop().call_later(
                    LAST_WORDS_SECONDS, os.kill, os.getpid(), signal.SIGKILL
                )
                return None
            case "compact":
                await self._compact()
                return None
            case "quota":
                client = await self._direct_client()
                await client.set_no_space(True)
                return partial(client.set_no_space, False)
        if kind == "stall":
            gateway = await Gateway.to(self._etcd.endpoint)
            gateway.stall()

            async def close() -> None:
                gateway.resume()
                await gateway.close()

            return self._detour(kind, gateway.endpoint, close)
        proxy = Proxy(0, urlsplit(self._etcd.endpoint).port or 0)
        await proxy.start()
        proxy.latency = SLOW_SECONDS if kind == "slow" else 0.0
        proxy.refuse = kind == "cut"
        return self._detour(kind, f"http://127.0.0.1:{proxy.port}", proxy.close)

    def _detour(self, kind: str, url: str, close: Undo) -> Undo:
        self._detours[kind] = url
        self._reroute()

        async def undo() -> None:
            del self._detours[kind]
            self._reroute()
            await close()

        return undo

    async def _send_order(self, order: bytes, back: bytes) -> Undo:
        await self._etcd.order(order)
        return partial(self._etcd.order, back)

    def _reroute(self) -> None:
        """Route the client through the proxies of the active faults; `cut` takes precedence over `slow`."""
        urls = self._detours
        self._client.reroute(urls.get("cut") or urls.get("slow", ""), urls.get("stall", ""))

    async def _direct_client(self) -> EtcdClient:
        """Return a client that bypasses the faults, and whose RPCs do not count as ktui's load."""
        if self._direct is None:
            config = EtcdConfig((self._etcd.endpoint,), read_only=False)
            self._direct = await EtcdClient.connect(config, Bus())
        return self._direct

    async def _compact(self) -> None:
        """Compact twice. Announcing a compaction is a revision too, which the first compaction leaves.

        So a watch that was cut, and misses only the announcements, is too old.
        """
        client = await self._direct_client()
        for _ in range(2):
            await compact(client, (await client.status("compact")).revision)
