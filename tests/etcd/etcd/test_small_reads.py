"""Reads of single keys over a second connection to a real etcd: plain, with TLS, with a token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.etcd.errors import AuthenticationError, CompactedError, FutureRevisionError
from ktui.etcd.small_reads import SmallReads
from ktui.etcd.types import Metadata
from ktui.telemetry.bus import Bus
from tests.etcd.certificates import Authority
from tests.etcd.members import enable_auth
from tests.etcd.waiting import HANGS

pytestmark = pytest.mark.anyio


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Count the reads that the second connections have answered."""
    count, read = 0, SmallReads.read

    async def counted(self: SmallReads, body: bytes, metadata: Metadata) -> bytes:
        nonlocal count
        raw = await read(self, body, metadata)
        count += 1
        return raw

    monkeypatch.setattr(SmallReads, "read", counted)
    return lambda: count


async def reads_alone(client: EtcdClient, answered: Callable[[], int]) -> None:
    """Return once a read was answered by the second connection."""
    before = answered()
    async with asyncio.timeout(HANGS):
        while answered() == before:
            await client.range(b"/a")


async def test_values_of_any_size_and_errors(
    client: EtcdClient, prefix: str, answered: Callable[[], int]
) -> None:
    await reads_alone(client, answered)
    for size in (0, 1, 16_379, 16_380, 300_000, 1_400_000):
        key, value = f"{prefix}/{size}".encode(), b"v" * size
        written = await client.create(key, value)
        before = answered()
        found = await client.range(key)
        assert answered() == before + 1
        assert (found.kvs[0].value, found.kvs[0].mod_revision) == (value, written.revision)
        assert found.revision >= written.revision
    with pytest.raises(FutureRevisionError):
        await client.range(b"/a", revision=1 << 40)
    before = answered()
    assert (await client.range(b"/a")).count == 0
    assert answered() == before + 1  # an error ends no connection


async def test_tls_with_a_client_certificate(
    secured: str, authority: Authority, bus: Bus, answered: Callable[[], int]
) -> None:
    certificate, key = authority.issue("client")
    config = EtcdConfig((secured,), False, authority.file, certificate, key)
    client = await EtcdClient.connect(config, bus)
    try:
        await reads_alone(client, answered)
        await client.create(b"/k", b"v" * 100_000)
        before = answered()
        assert (await client.range(b"/k")).kvs[0].value == b"v" * 100_000
        assert answered() == before + 1
    finally:
        await client.close()


async def test_a_token_that_is_refused_is_renewed(bus: Bus, answered: Callable[[], int]) -> None:
    etcd = await EmbeddedEtcd.start()
    try:
        await enable_auth(EtcdConfig((etcd.endpoint,), read_only=False))
        config = EtcdConfig((etcd.endpoint,), read_only=False, user="root", password="secret")
        client = await EtcdClient.connect(config, bus)
        await reads_alone(client, answered)
        await client.compact((await client.create(b"/b", b"1")).revision)
        with pytest.raises(CompactedError):
            await client.range(b"/b", revision=1)
        client._transport._token = "forgotten"
        assert (await client.range(b"/b")).count == 1  # gRPC gets another token
        await reads_alone(client, answered)
        await client.close()
        with pytest.raises(AuthenticationError):
            await EtcdClient.connect(EtcdConfig((etcd.endpoint,), user="root", password="no"), bus)
    finally:
        await etcd.stop()
