"""A list is sent in chunks, until its client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from ktui.apiserver.http.response import Body, Response
from ktui.apiserver.verbs.listing import stream
from ktui.telemetry.meter import Meter

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("gzip", [False, True])
async def test_what_a_client_that_has_gone_would_get_is_not_made(gzip: bool) -> None:
    sent, gone, made = list[dict[str, Any]](), asyncio.Event(), 0

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    def chunks() -> Iterator[bytes]:
        nonlocal made
        while True:  # a list that never ends
            made += 1
            if made == 100:
                gone.set()
            yield b"x" * 10_000

    async def disconnected() -> None:
        await gone.wait()

    body = Body(Response(send), "application/json", gzip)
    whole = await stream(body, chunks(), Meter(), lambda: asyncio.ensure_future(disconnected()))
    assert not whole and made >= 100
    assert all(message.get("more_body", True) for message in sent), "the list has no end"


async def test_a_list_has_an_end() -> None:
    sent = list[dict[str, Any]]()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def stays() -> None:
        await asyncio.get_running_loop().create_future()

    body = Body(Response(send), "application/json", gzip=False)
    assert await stream(body, iter([b"{", b"}"]), Meter(), lambda: asyncio.ensure_future(stays()))
    assert b"".join(message.get("body", b"") for message in sent) == b"{}" and not sent[-1]["more_body"]
