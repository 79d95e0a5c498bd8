"""The server's own account of single requests, asked for by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ktui.contract.events import RequestFinished

if TYPE_CHECKING:
    from ktui.client.api import ApiClient

PATH = "/ktui/v1/requests"


class Accounts:
    """Ask the server to keep accounts, then fetch those of one's own requests."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def begin(self) -> None:
        """From now on the server keeps them. Call before the request is fired."""
        await self._client.get_json(f"{PATH}?limit=1")

    async def of(self, request_id: int) -> RequestFinished | None:
        """What a request cost; None when the server does not tell. Raises ClientError when it is gone."""
        if not request_id:
            return None
        response = await self._client.request("GET", f"{PATH}/{request_id}")
        if response.status_code != 200:
            return None
        try:
            return msgspec.json.decode(response.content, type=RequestFinished)
        except msgspec.DecodeError:
            return None
