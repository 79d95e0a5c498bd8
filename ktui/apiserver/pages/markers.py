"""`/ktui/v1/markers`: times that a client marks in telemetry, such as a workload's changed parameter."""

from __future__ import annotations

import msgspec

from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import send_json
from ktui.contract.events import Marker
from ktui.contract.events.base import MarkerRequest
from ktui.kube.status import bad_request, request_entity_too_large
from ktui.telemetry.bus import Bus

MAX_BODY = 4 * 1024


class MarkerPages:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def publish(self, request: Request, response: Response) -> None:
        """Publish a marker: 202."""
        try:
            marker = msgspec.json.decode(await request.body(MAX_BODY), type=MarkerRequest)
        except BodyTooLarge:
            raise request_entity_too_large(f"limit is {MAX_BODY}") from None
        except msgspec.DecodeError as error:
            raise bad_request(str(error)) from None
        self._bus.publish(Marker(at=self._bus.now(), text=marker.text))
        await send_json(response, marker, 202)
