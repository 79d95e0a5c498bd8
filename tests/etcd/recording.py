"""A gRPC proxy between ktui and an etcd: writes down which methods pass, forwards bytes as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import grpc


class RecordingProxy(grpc.GenericRpcHandler):  # type: ignore[misc]
    """`methods` counts calls by gRPC path; `async with` gives its endpoint."""

    def __init__(self, target: str) -> None:
        self.methods: Counter[str] = Counter()
        self.endpoint = ""
        self._target = target.removeprefix("http://")

    async def __aenter__(self) -> RecordingProxy:
        self._channel = grpc.aio.insecure_channel(
            self._target, options=[("grpc.max_receive_message_length", -1)]
        )
        self._server = grpc.aio.server(handlers=[self], options=[("grpc.max_receive_message_length", -1)])
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.endpoint = f"http://127.0.0.1:{port}"
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop(None)
        await self._channel.close()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        path = handler_call_details.method
        self.methods[path] += 1
        metadata = [
            (k, v) for k, v in handler_call_details.invocation_metadata if k in ("hasleader", "token")
        ]

        async def unary(request: bytes, context: Any) -> bytes:
            call = self._channel.unary_unary(path)(request, metadata=metadata)
            try:
                answer: bytes = await call
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details())
            return answer

        async def stream(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
            async for answer in self._channel.stream_stream(path)(requests, metadata=metadata):
                yield answer

        if path.endswith("/Watch"):
            return grpc.stream_stream_rpc_method_handler(stream)
        return grpc.unary_unary_rpc_method_handler(unary)
