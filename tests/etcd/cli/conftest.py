"""A real `ktui serve` over its embedded etcd, with a small demo cluster in it.

It ends with the last of these tests in a row, as the etcd of `tests/etcd` does.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from ktui.cli.child import ServerChild
from ktui.cli.seed_copies import seed_quickly
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.demo.plan import DemoSize, make_plan
from tests.sharing import while_in_use

SIZE = DemoSize(pods=240, nodes=8, namespaces=7)
Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope=while_in_use)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """State files of these tests only: another server of the user's must not be found."""
    patch = pytest.MonkeyPatch()
    folder = str(tmp_path_factory.mktemp("state"))
    patch.setenv("XDG_STATE_HOME", folder)
    patch.setenv("COLUMNS", "120")
    yield folder
    patch.undo()


@pytest.fixture(scope=while_in_use)
def in_loop() -> Iterator[Run]:
    """Run a coroutine in a loop of its own thread: the commands run loops of their own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server child")
    thread.start()
    yield lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(110)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope=while_in_use)
def server(home: str, in_loop: Run) -> Iterator[ServerConnection]:
    child = ServerChild(["--insecure-http"])
    connection = in_loop(child.start())
    in_loop(_fill(connection))
    yield connection
    in_loop(child.stop())


async def _fill(connection: ServerConnection) -> None:
    client = ApiClient(connection)
    await seed_quickly(connection, make_plan(SIZE))
    for plural in ("ciliumnodes", "ciliumnetworkpolicies", "ciliumclusterwidenetworkpolicies"):
        # The caches of custom resources start with the first who asks.
        while (await client.send_timed(f"/apis/cilium.io/v2/{plural}?resourceVersion=0")).route != "cache":
            pass
    await client.close()


@pytest.fixture
def behave(server: ServerConnection, in_loop: Run) -> Iterator[Callable[[str], None]]:
    """Switch the Kubernetes version whose rules the server follows; back to the newest afterwards."""

    async def switch(version: str) -> None:
        client = ApiClient(server)
        await client.send_json("PUT", "/ktui/v1/behaviour", {"kube_version": version, "feature_gates": {}})
        await client.close()

    yield lambda version: in_loop(switch(version))
    in_loop(switch("1.36"))
