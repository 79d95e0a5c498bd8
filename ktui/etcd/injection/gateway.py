"""A gRPC proxy in front of an etcd: watches can stall or hang while their connection and other calls work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc

from ktui.supervision import stop

OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
WATCH = "/etcdserverpb.Watch/Watch"


class Gateway(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Relays bytes between clients and etcd.

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
            answer: bytes = await self._channel.unary_unary(details.method)(
                request, metadata=context.invocation_metadata()
            )
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
