"""An etcd that answers Status to its root role only, as 3.5.30 does: what may be read is read anyway."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import grpc
import pytest
from aetcd import rpc

from ktui.etcd import connection_liveness
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.connection_liveness import poll_status
from ktui.telemetry.bus import Bus

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def strict_etcd() -> AsyncIterator[str]:
    async def status(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, "etcdserver: permission denied")
        raise AssertionError("aborted")

    async def read(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        answer: bytes = rpc.RangeResponse(header=rpc.ResponseHeader(revision=7), count=0).SerializeToString()
        return answer

    server = grpc.aio.server()
    for service, method, handler in (("Maintenance", "Status", status), ("KV", "Range", read)):
        methods = {method: grpc.unary_unary_rpc_method_handler(handler)}
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(f"etcdserverpb.{service}", methods),)
        )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(None)


async def test_its_version_stays_unknown_and_it_is_read(bus: Bus) -> None:
    async with strict_etcd() as endpoint:
        client = await EtcdClient.connect(EtcdConfig((endpoint,)), bus)
        assert client.version == ""
        assert (await client.range(b"/registry/")).revision == client.head == 7
        await client.close()


async def test_it_is_not_asked_for_its_vitals_again(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_liveness, "POLL_SECONDS", 0.0)
    async with strict_etcd() as endpoint:
        client = await EtcdClient.connect(EtcdConfig((endpoint,)), bus)
        await asyncio.wait_for(poll_status(client.status), 60)
        await client.close()
