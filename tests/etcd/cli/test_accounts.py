"""`/ktui/v1/requests`: the account of a request is there when its answer is."""

import asyncio

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.paths import REQUESTS as PATH


@pytest.mark.anyio
async def test_accounts_of_many_requests_at_once(server: ServerConnection) -> None:
    client = ApiClient(server)
    server_api = KtuiApi(client)
    await server_api.keep_requests()

    # Small enough to go out without gzip: then both sides count the same bytes.
    async def one(number: int) -> tuple[int, int]:
        fired = await client.send_timed(f"/api/v1/pods?limit={number}")
        account = await server_api.finished_request(fired.request_id)
        assert account is not None
        return account.returned, account.sent_bytes - fired.body_bytes

    found = await asyncio.gather(*(one(number) for number in range(1, 11)))
    assert found == [(number, 0) for number in range(1, 11)]
    newest = await client.get_json(f"{PATH}?limit=5")
    assert len(newest["requests"]) == 5
    await client.close()


@pytest.mark.anyio
async def test_what_is_not_known_is_404(server: ServerConnection) -> None:
    client = ApiClient(server)
    assert (await client.request("GET", f"{PATH}/x")).status_code == 400
    assert (await client.request("GET", f"{PATH}/123456789")).status_code == 404
    assert await KtuiApi(client).finished_request(123456789) is None
    await client.close()
