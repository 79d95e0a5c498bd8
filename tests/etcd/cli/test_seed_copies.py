"""A demo cluster is copied: its objects are those that the API would have stored."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from ktui.cli.child import ServerChild
from ktui.cli.seed_copies import seed_quickly
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.demo.plan import DAEMONS, DemoSize, make_plan
from ktui.workloads.seeding import SeedProgress, count_objects, seed, stages
from tests.etcd.cli.conftest import Run as InLoop

PLAN = make_plan(DemoSize(pods=240, nodes=7, namespaces=6))
_OWN = re.compile(r'"(?:uid|[a-zA-Z]*[tT]ime[a-z]*|startedAt|finishedAt|resourceVersion)":"[^"]*"')
Fill = Callable[[ServerConnection], Coroutine[Any, Any, SeedProgress]]


async def stored_by(fill: Fill) -> tuple[dict[str, str], int]:
    """By path, each object without its uid, its times and its version; and how many versions there are."""
    child = ServerChild(["--insecure-http"])
    try:
        connection = await child.start()
        await fill(connection)
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
    finally:
        await child.stop()


def test_copies_are_what_the_api_stores(home: str, in_loop: InLoop) -> None:
    created, versions = in_loop(stored_by(lambda server: seed(server, PLAN)))
    assert versions == len(created)  # each by a write of its own
    copied, versions = in_loop(stored_by(lambda server: seed_quickly(server, PLAN)))
    assert copied.keys() == created.keys()
    for path in created:
        assert copied[path] == created[path], path
    assert versions < len(copied) / 2, "most are written by transactions of many"


def test_what_exists_already_is_left_alone(home: str, in_loop: InLoop) -> None:
    again = list[SeedProgress]()
    lost = [
        f"/api/v1/namespaces/kube-system/pods/{daemon}-{number:02d}"
        for daemon in DAEMONS
        for number in (1, 2)
    ]

    async def fill(connection: ServerConnection) -> SeedProgress:
        first = await seed_quickly(connection, PLAN)
        client = ApiClient(connection)
        for path in lost:
            await client.send_json("DELETE", path, {"gracePeriodSeconds": 0})
        await client.close()
        again.append(await seed_quickly(connection, PLAN))
        return first

    found, _ = in_loop(stored_by(fill))
    assert set(lost) <= found.keys()
    # Of those that are alike the first is created, and an example: no transaction may replace what exists.
    total = count_objects(PLAN)
    assert (again[0].created, again[0].existed) == (len(lost), total - len(lost))
