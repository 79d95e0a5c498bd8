"""A real etcd for all tests of this package, and for each test a prefix that no other test uses.

Tests are coroutines under `pytest.mark.anyio`; fixtures that hold a connection
live in the test's own event loop, the etcd process in a loop of its own.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from ktui.etcd import connection_liveness, endpoints, transport, types
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.telemetry.bus import Bus
from tests.sharing import while_in_use

# A child that the collector found with gRPC's garbage between fork and exec has been seen to spin there for
# ever, for want of gRPC's threads, and its parent to wait for the exec.
os.register_at_fork(before=gc.disable, after_in_parent=gc.enable)

_CONNECTING = "grpc.min_reconnect_backoff_ms"
_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/etcd/" in item.path.as_posix():
            item.add_marker(pytest.mark.etcd)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The server's own kind of event loop."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session", autouse=True)
async def one_loop(anyio_backend: object) -> AsyncIterator[None]:
    """All tests share one event loop: grpc.aio's poller may still call a loop that a test has closed.

    uvloop cannot be closed before its handles are: a connection that a test has left is collected first, and
    closes in the loop's next turns.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture(scope="session", autouse=True)
def patient_connections() -> Iterator[None]:
    """What every connection begins with tolerates a machine, or an etcd, that stalls for more than 5 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(types, "STATUS", replace(types.STATUS, timeout=60.0))
        patch.setattr(transport, "AUTHENTICATE", replace(transport.AUTHENTICATE, timeout=60.0))
        patch.setattr(endpoints, "_OPTIONS", connecting_within(60_000))
        patch.setattr(connection_liveness, "QUIET_SECONDS", 3_600.0)
        patch.setattr(connection_liveness, "HEARD_SECONDS", 3_600.0)
        yield


def connecting_within(milliseconds: int) -> list[tuple[str, int]]:
    """Options of channels, with that time for the making of a connection."""
    kept = [option for option in endpoints._OPTIONS if option[0] != _CONNECTING]
    return [*kept, (_CONNECTING, milliseconds)]


@pytest.fixture(scope=while_in_use)
def etcd() -> Iterator[EmbeddedEtcd]:
    """The etcd of all these tests. Shared: write only under `prefix`, and do not compact.

    It ends with the last of them in a row: idle for the rest of a worker's session, it takes 1.5 % of a
    processor, and a server with its own etcd 3.5 %.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="embedded etcd")
    thread.start()
    try:
        etcd = asyncio.run_coroutine_threadsafe(EmbeddedEtcd.start(), loop).result(60)
        yield etcd
        asyncio.run_coroutine_threadsafe(etcd.stop(), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def etcd_config(etcd: EmbeddedEtcd) -> EtcdConfig:
    """How to reach the shared etcd, writable."""
    return EtcdConfig((etcd.endpoint,), read_only=False)


@pytest.fixture
def prefix() -> str:
    """An --etcd-prefix of this test's own, e.g. `/t7`."""
    return f"/t{next(_numbers)}"


@pytest.fixture
def bus() -> Bus:
    return Bus()


@pytest.fixture
async def client(etcd_config: EtcdConfig, bus: Bus) -> AsyncIterator[EtcdClient]:
    """A writable connection to the shared etcd, in the test's event loop."""
    client = await EtcdClient.connect(etcd_config, bus)
    yield client
    await client.close()
