"""An answer that cannot be completed does not look complete: its connection breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from ktui.apiserver.call import Call
from ktui.apiserver.verbs import listing

from .conftest import Api

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"


@pytest.fixture(params=["the time is over", "a bug", "cancelled"])
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its first chunk a LIST does not go on."""
    limited, limit = list[Call](), Call.limit

    def limits(call: Call) -> None:
        limit(call)
        limited.append(call)

    monkeypatch.setattr(Call, "limit", limits)

    async def stream(body: Any, chunks: Iterable[bytes], *_: object) -> None:
        await body.write(next(iter(chunks)))
        if request.param == "a bug":
            raise ZeroDivisionError
        if request.param == "cancelled":
            raise asyncio.CancelledError
        await asyncio.sleep(0)  # as it first waits, its time begins
        (call,) = (call for call in limited if call.verb == "LIST")
        task = asyncio.current_task()
        assert task is not None
        call._expire(task)
        await asyncio.Event().wait()

    monkeypatch.setattr(listing, "stream", stream)


@pytest.mark.usefixtures("broken")
async def test_a_list_that_is_cut_is_not_taken_for_a_whole_one(api: Api) -> None:
    await api.warm()
    await api.seen(await api.config_map("c0"))
    headers = {"Accept-Encoding": "identity"}  # else the beginning waits until it is known how long it is
    async with api.http.stream("GET", MAPS, headers=headers) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError):
            await answer.aread()
    assert (await api.get("/readyz")).status_code == 200
