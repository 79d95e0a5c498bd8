"""Requests with large bodies pause the garbage collector until they have ended, however that is."""

from __future__ import annotations

import asyncio
import gc

import pytest

from ktui.apiserver.call import Call

from .conftest import JSON, Api

pytestmark = pytest.mark.anyio

MAPS = "/api/v1/namespaces/a/configmaps"


@pytest.mark.parametrize("broken", [False, True])
async def test_it_is_paused_until_the_request_has_ended(
    api: Api, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    seen, stamp = [], Call.stamp

    def stamped(call: Call) -> None:
        seen.append(gc.isenabled())
        stamp(call)

    monkeypatch.setattr(Call, "stamp", stamped)
    data = ",".join(f'"key{number}":"value"' for number in range(5000))
    body = f'{{"metadata":{{"name":"x"}},"data":{{{data}}}' + ("" if broken else "}")
    answer = await api.http.post(MAPS, content=body, headers=JSON)
    assert answer.status_code == (400 if broken else 201), answer.text
    assert seen == [False]
    async with asyncio.timeout(60):
        while not gc.isenabled():
            await asyncio.sleep(0)
    assert (await api.get("/api/v1/namespaces/a")).status_code == 200
    assert seen == [False, True]
