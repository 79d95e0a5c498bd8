"""A TCP proxy before an etcd, for connections that break, stall and take their time."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit


class Link:
    """`endpoint` is where clients connect to; what they send goes on to etcd, and back."""

    def __init__(self, host: str, port: int) -> None:
        self.endpoint = ""
        self.delay = 0.0  # seconds that each piece is held back
        self._target = (host, port)
        self._whole = True
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._alive = {"up": asyncio.Event(), "down": asyncio.Event()}  # of the connections from now on
        self._revive()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()

    @classmethod
    async def to(cls, endpoint: str) -> Link:
        url = urlsplit(endpoint)
        assert url.hostname and url.port
        link = cls(url.hostname, url.port)
        link._server = await asyncio.start_server(link._connected, "127.0.0.1", 0)
        link.endpoint = f"http://127.0.0.1:{link._server.sockets[0].getsockname()[1]}"
        return link

    def cut(self) -> None:
        """Reset every connection, and new ones as soon as they are made."""
        self._whole = False
        for writer in self._writers:
            writer.transport.abort()

    def stall(self) -> None:
        """Hold everything back: connections stay, nothing arrives."""
        self._flowing.clear()

    def die(self, *ways: str) -> None:
        """Let nothing through ("up": to etcd, "down": from it) on the present connections, for ever.

        Neither end is notified, as when a firewall drops its state. New connections work.
        """
        for way in ways or ("up", "down"):
            self._alive[way].clear()
        self._revive()

    def restore(self) -> None:
        """Undo `cut`, `stall` and `delay`."""
        self._whole = True
        self.delay = 0.0
        self._flowing.set()

    async def close(self) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def _revive(self) -> None:
        self._alive = {way: asyncio.Event() for way in self._alive}
        for alive in self._alive.values():
            alive.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self._whole:
                there, back = await asyncio.open_connection(*self._target)
                self._writers.add(back)
                self._pump(there, writer, self._alive["down"])
                self._pump(reader, back, self._alive["up"])
            else:
                writer.transport.abort()
        except OSError:
            writer.transport.abort()

    def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, alive: asyncio.Event) -> None:
        pump = asyncio.create_task(self._forward(reader, writer, alive))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, alive: asyncio.Event
    ) -> None:
        try:
            while piece := await reader.read(1 << 16):
                await asyncio.sleep(self.delay)  # what the link is for
                await self._flowing.wait()
                await alive.wait()
                if writer.is_closing():  # cut meanwhile: to write would be a fault, not an OSError
                    return
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass  # reset, by `cut` or by one of the ends
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
