"""Inject faults between ktui and an etcd that it started: a proxy, and signals to the process."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from ktui.supervision import stop

OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
WATCH = "/etcdserverpb.Watch/Watch"


class Gateway:
    """Relays bytes between clients and etcd: gRPC asks its `service` how to handle a method.

    `stall` holds all messages of etcd on watches until `resume`. `hang` drops all messages on the watches
    that are open now. If `deaf`, it relays only the first request of a watch, as if etcd knew no others.
    """

    def __init__(self, target: str) -> None:
        self._channel = grpc.aio.insecure_channel(target, options=OPTIONS)
        self._server = grpc.aio.server(handlers=(self,), options=OPTIONS)
        self._open: set[object] = set()
        self._hanging: set[object] = set()
        self.swallowed = 0
        self.deaf = False
        self.endpoint = ""
        self._flowing = asyncio.Event()
        self._flowing.set()

    @classmethod
    async def to(cls, endpoint: str) -> Gateway:
        gateway = cls(endpoint.removeprefix("http://"))
        port = gateway._server.add_insecure_port("127.0.0.1:0")
        gateway.endpoint = f"http://127.0.0.1:{port}"
        await gateway._server.start()
        return gateway

    def stall(self) -> None:
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    def hang(self) -> None:
        self._hanging |= self._open

    async def close(self) -> None:
        await self._server.stop(None)
        await self._channel.close()

    def service(self, details: Any) -> grpc.RpcMethodHandler:
        if details.method == WATCH:
            return grpc.stream_stream_rpc_method_handler(self._watch)

        async def call(request: bytes, context: Any) -> bytes:
            try:
                answer: bytes = await self._channel.unary_unary(details.method)(
                    request, metadata=context.invocation_metadata()
                )
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "")
            return answer

        return grpc.unary_unary_rpc_method_handler(call)

    async def _watch(self, requests: AsyncIterator[bytes], context: Any) -> None:
        call = self._channel.stream_stream(WATCH)(metadata=(("hasleader", "true"),))

        async def pass_on() -> None:
            async for request in requests:
                await call.write(request)
                if self.deaf:
                    return

        passing = asyncio.create_task(pass_on())
        self._open.add(call)
        try:
            while (answer := await call.read()) is not grpc.aio.EOF:
                if call in self._hanging:
                    self.swallowed += 1
                else:
                    await self._flowing.wait()
                    await context.write(answer)
        finally:
            self._open.discard(call)
            call.cancel()
            await stop(passing)


PIECES = 64  # pieces to read ahead on each connection, for `latency`


class Proxy:
    """Forwards 127.0.0.1:`port` (0: a free one, known once started) to 127.0.0.1:`target`.

    `delay` holds each piece for a random time up to this (seconds); `latency` holds every piece equally long,
    and does not limit throughput. `refuse` closes new connections; `hold` accepts them, but forwards nothing.
    `source` identifies the client by its port; connections of `blocked` clients transfer nothing.
    """

    def __init__(self, port: int, target: int, source: Callable[[int], int] | None = None) -> None:
        self.port, self.target = port, target
        self._freed = asyncio.Event()  # set whenever `hold` or `blocked` changes
        self._source = source
        self._dead_before = 0.0
        self._flowing = {"up": asyncio.Event(), "down": asyncio.Event()}
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.heal()

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; connections that are held or blocked look at it again."""
        super().__setattr__(name, value)
        if name in ("hold", "blocked"):
            self._freed.set()

    @property
    def in_use(self) -> bool:
        return bool(self._writers)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def heal(self) -> None:
        """Undo every fault except dead connections, which stay dead."""
        self.refuse = self.hold = False
        self.delay = self.latency = 0.0
        self.blocked: set[int] = set()
        for way in self._flowing.values():
            way.set()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def stall(self, *ways: str) -> None:
        """Hold back data that flows "up" to etcd or "down" from it."""
        for way in ways or ("up", "down"):
            self._flowing[way].clear()

    def kill_silently(self) -> None:
        """Drop all data on the present connections from now on, without an error."""
        self._dead_before = time.monotonic()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.cut()

    async def _change(self) -> None:
        """Wait until `hold` or `blocked` changes."""
        self._freed.clear()
        await self._freed.wait()

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
                await self._change()
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(back)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, back, "up", born, source))
                both.create_task(self._pump(there, writer, "down", born, source))
        except* (OSError, EOFError):
            pass
        except* asyncio.CancelledError:
            pass  # otherwise asyncio's stream callback would log it
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
        pieces = asyncio.Queue[tuple[float, bytes]](PIECES)
        async with asyncio.TaskGroup() as both:
            both.create_task(_receive(reader, pieces))
            both.create_task(self._pass_on(pieces, writer, way, born, source))

    async def _pass_on(
        self,
        pieces: asyncio.Queue[tuple[float, bytes]],
        writer: asyncio.StreamWriter,
        way: str,
        born: float,
        source: int,
    ) -> None:
        while True:
            received, piece = await pieces.get()
            if not piece:
                raise EOFError
            if (late := received + self.latency - time.monotonic()) > 0:
                await asyncio.sleep(late)
            if self.delay:
                await asyncio.sleep(self.delay * random.random())
            await self._flowing[way].wait()
            while born < self._dead_before or source in self.blocked:
                await self._change()
            if writer.is_closing():  # cut meanwhile
                raise EOFError
            writer.write(piece)
            await writer.drain()


async def _receive(reader: asyncio.StreamReader, pieces: asyncio.Queue[tuple[float, bytes]]) -> None:
    """Read until the end, which is queued as an empty piece."""
    piece = b"-"
    while piece:
        piece = await reader.read(1 << 16)
        await pieces.put((time.monotonic(), piece))
