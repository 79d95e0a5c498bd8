"""The base of controllers: one worker for a key, again if it changes meanwhile, and after errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ktui.cacher.cachers import Registry
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import bare_error
from ktui.storage.objects import StoredObject
from ktui.writes import server_controller
from ktui.writes.server_controller import DELETED, LISTED, Key, ServerController
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

PATH = "/api/v1/namespaces/a/configmaps"


class Recorder(ServerController):
    """Hands each change and key over to the test; a key is reconciled once the test allows it."""

    NAME = "the recorder"
    WORKERS = 2

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, builtin("", "configmaps"))
        self.changes: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.begun: asyncio.Queue[Key] = asyncio.Queue()
        self.allowed = asyncio.Semaphore(0)
        self.answers: list[float | Exception] = []

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        self.changes.put_nowait((type_, obj.name))
        if type_ != DELETED:
            self.add((obj.namespace, obj.name))

    async def reconcile(self, key: Key) -> float:
        self.begun.put_nowait(key)
        await self.allowed.acquire()
        answer = self.answers.pop(0) if self.answers else 0.0
        if isinstance(answer, Exception):
            raise answer
        return answer


@asynccontextmanager
async def recorded(api: Api) -> AsyncIterator[Recorder]:
    recorder = Recorder(api.services.registry)
    recorder.start()
    try:
        async with asyncio.timeout(60):
            yield recorder
    finally:
        await recorder.stop()


async def test_a_key_that_changes_while_it_is_reconciled_is_reconciled_again(api: Api) -> None:
    await api.config_map("there")
    async with recorded(api) as recorder:
        assert await recorder.changes.get() == (LISTED, "there")
        assert await recorder.begun.get() == ("a", "there")
        for value in "12":
            await api.merge(f"{PATH}/there", {"data": {"k": value}})
            assert await recorder.changes.get() == ("MODIFIED", "there")
        await api.config_map("other")
        assert await recorder.changes.get() == ("ADDED", "other")
        assert await recorder.begun.get() == ("a", "other")  # by the second worker
        assert recorder.begun.empty()
        recorder.allowed.release()
        assert await recorder.begun.get() == ("a", "there")
        recorder.allowed.release()
        recorder.allowed.release()
        while not recorder.idle:
            await asyncio.sleep(0)
        assert recorder.begun.empty()  # two changes, one more time
        await api.delete(f"{PATH}/there")
        assert await recorder.changes.get() == (DELETED, "there")


async def test_a_key_comes_back_when_it_asks_for_it_and_after_errors(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_controller, "FIRST_BACKOFF", 0.01)
    await api.config_map("there")
    async with recorded(api) as recorder:
        recorder.answers = [0.01, bare_error("etcd is away"), bare_error("etcd is away")]
        for _ in range(4):
            assert await recorder.begun.get() == ("a", "there")
            assert not recorder.idle
            recorder.allowed.release()
        while not recorder.idle:
            await asyncio.sleep(0)
    assert [line for line in caplog.messages if "recorder" in line] == [
        "the recorder: a/there: etcd is away"
    ] * 2


async def test_a_bug_is_reported_and_loses_no_key(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_controller, "FIRST_BACKOFF", 0.01)
    await api.config_map("there")
    async with recorded(api) as recorder:
        recorder.answers = [KeyError("spec")]
        for _ in range(2):
            assert await recorder.begun.get() == ("a", "there")
            recorder.allowed.release()
        (failure,) = api.services.registry.supervisor.failures
        assert (failure.task, type(failure.error)) == ("the recorder", KeyError)
