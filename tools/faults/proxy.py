"""A TCP proxy that can cut, stall, delay, refuse, hold and silently kill connections."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable


class Proxy:
    """Forwards 127.0.0.1:`port` to 127.0.0.1:`target`.

    `source` names who has connected, by its port; connections of `blocked` sources let nothing through.
    """

    def __init__(self, port: int, target: int, source: Callable[[int], int] | None = None) -> None:
        self.port, self.target = port, target
        self.blocked: set[int] = set()
        self.delay = 0.0
        self.refuse = self.hold = False
        self._source = source
        self._dead_before = 0.0
        self._flowing = {"up": asyncio.Event(), "down": asyncio.Event()}
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.heal()

    @property
    def in_use(self) -> bool:
        return bool(self._writers)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    def heal(self) -> None:
        """Undo everything but dead connections, which stay dead."""
        self.refuse = self.hold = False
        self.delay = 0.0
        self.blocked = set()
        for way in self._flowing.values():
            way.set()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            writer.transport.abort()

    def stall(self, *ways: str) -> None:
        """Hold back what flows "up" to etcd or "down" from it."""
        for way in ways or ("up", "down"):
            self._flowing[way].clear()

    def kill_silently(self) -> None:
        """Let nothing through on the present connections, for ever, without an error."""
        self._dead_before = time.monotonic()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.cut()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        back: asyncio.StreamWriter | None = None
        try:
            if self.refuse:
                return
            source = self._source(writer.get_extra_info("peername")[1]) if self._source else -1
            born = time.monotonic()
            while self.hold or source in self.blocked:
                await asyncio.sleep(0.05)
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(back)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, back, "up", born, source))
                both.create_task(self._pump(there, writer, "down", born, source))
        except* (OSError, EOFError):
            pass
        except* asyncio.CancelledError:
            pass  # asyncio's stream callback would log it
        finally:
            self._tasks.discard(task)
            for end in (writer, back):
                if end is not None:
                    self._writers.discard(end)
                    with contextlib.suppress(OSError):
                        end.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str, born: float, source: int
    ) -> None:
        while piece := await reader.read(1 << 16):
            if self.delay:
                await asyncio.sleep(self.delay * random.random())
            await self._flowing[way].wait()
            while born < self._dead_before or source in self.blocked:
                await asyncio.sleep(0.05)
            if writer.is_closing():  # cut meanwhile
                return
            writer.write(piece)
            await writer.drain()
        raise EOFError
