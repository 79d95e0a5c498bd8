"""A demo cluster is copied: its objects are those that the API would have stored."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from ktui.cli.child import ServerChild
from ktui.cli.seed_copies import seed_quickly
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.demo.plan import DAEMONS, DemoSize, make_plan
from ktui.workloads.seeding import SeedProgress, count_objects, seed, stages
from tests.etcd.cli.conftest import Run as InLoop

PLAN = make_plan(DemoSize(pods=120, nodes=5, namespaces=5))  # every shape of object that 240 pods have
_OWN = re.compile(r'"(?:uid|[a-zA-Z]*[tT]ime[a-z]*|startedAt|finishedAt|resourceVersion)":"[^"]*"')
Fill = Callable[[ServerConnection], Coroutine[Any, Any, SeedProgress]]


@contextlib.asynccontextmanager
async def filled_by(fill: Fill) -> AsyncIterator[ServerConnection]:
    """A server of its own."""
    child = ServerChild(["--insecure-http"])
    try:
        connection = await child.start()
        await fill(connection)
        yield connection
    finally:
        await child.stop()


async def stored(connection: ServerConnection) -> tuple[dict[str, str], int]:
    """By path, each object without its uid, its times and its version; and how many versions there are."""
    client = ApiClient(connection)
    found, versions = dict[str, str](), set[str]()
    collections = {item.path for stage in stages(PLAN, 0.0) for item in stage.objects}
    for path in sorted(collections):
        items = (await client.get_json(path))["items"]
        for item in items:
            versions.add(item["metadata"]["resourceVersion"])
            found[f"{path}/{item['metadata']['name']}"] = _OWN.sub(
                "", json.dumps(item, separators=(",", ":"))
            )
    await client.close()
    return found, len(versions)


async def deleted(connection: ServerConnection, paths: list[str]) -> None:
    client = ApiClient(connection)
    for path in paths:
        await client.send_json("DELETE", path, {"gracePeriodSeconds": 0})
    await client.close()


def test_copies_are_what_the_api_stores_and_what_exists_is_left_alone(home: str, in_loop: InLoop) -> None:
    lost = [
        f"/api/v1/namespaces/kube-system/pods/{daemon}-{number:02d}"
        for daemon in DAEMONS
        for number in (1, 2)
    ]

    async def compared() -> None:
        async with filled_by(lambda server: seed(server, PLAN)) as server:
            created, versions = await stored(server)
        assert versions == len(created)  # each by a write of its own
        async with filled_by(lambda server: seed_quickly(server, PLAN)) as server:
            copied, versions = await stored(server)
            assert copied.keys() == created.keys()
            for path in created:
                assert copied[path] == created[path], path
            assert versions < len(copied) / 2, "most are written by transactions of many"

            await deleted(server, lost)
            again = await seed_quickly(server, PLAN)
            found, _ = await stored(server)
        assert set(lost) <= found.keys()
        # Of those alike the first is created, and an example: no transaction may replace what exists.
        assert (again.created, again.existed) == (len(lost), count_objects(PLAN) - len(lost))

    in_loop(compared())
