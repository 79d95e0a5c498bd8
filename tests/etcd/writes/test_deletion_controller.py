"""Objects that wait for a controller: each is finished, also one that has the name of another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ktui.kube.resources import Resource, builtin
from ktui.writes.deletion_controller import DeletionController
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

PATH = "/api/v1/namespaces/a/configmaps"
HELD = {"name": "c", "finalizers": ["example.io/hold"]}


async def test_an_object_that_is_marked_while_its_namesake_is_finished(api: Api) -> None:
    begun: asyncio.Queue[str] = asyncio.Queue()
    may_end = asyncio.Event()
    seen = asyncio.Event()
    second = ""

    def is_held(obj: dict[str, Any]) -> bool:
        if held := bool(obj["metadata"].get("deletionTimestamp")):
            seen.set() if obj["metadata"]["uid"] == second else None
        return held

    async def finish(_: Resource, namespace: str, name: str) -> None:
        begun.put_nowait(f"{namespace}/{name}")
        await may_end.wait()

    marked = DeletionController(api.services.registry, [builtin("", "configmaps")], is_held, finish)
    marked.start()
    try:
        async with asyncio.timeout(60):
            await api.create(PATH, {"metadata": HELD})
            await api.delete(f"{PATH}/c")
            assert await begun.get() == "a/c"
            await api.merge(f"{PATH}/c", {"metadata": {"finalizers": None}})
            second = (await api.create(PATH, {"metadata": HELD})).json()["metadata"]["uid"]
            await api.delete(f"{PATH}/c")
            await seen.wait()
            may_end.set()
            assert await begun.get() == "a/c"
    finally:
        await marked.stop()
