"""`/ktui/v1/faults`: inject faults into the etcd that this server started, for workloads."""

from __future__ import annotations

import msgspec

from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import send_json
from ktui.apiserver.services import Faults, Services
from ktui.contract.faults import ActiveFaults, Fault
from ktui.etcd.errors import EtcdError
from ktui.kube.status import StatusError, bad_request, request_entity_too_large

MAX_BODY = 4 * 1024


class FaultPages:
    def __init__(self, services: Services) -> None:
        self._faults = services.faults

    async def get(self, request: Request, response: Response) -> None:
        """Send the active faults."""
        await self._send(response, 200)

    async def inject(self, request: Request, response: Response) -> None:
        """Begin a fault: 202; 403 if ktui did not start this etcd, 409 if one of its kind is active."""
        faults = self._allowed()
        try:
            fault = msgspec.json.decode(await request.body(MAX_BODY), type=Fault).checked()
        except BodyTooLarge:
            raise request_entity_too_large(f"limit is {MAX_BODY}") from None
        except (msgspec.DecodeError, ValueError) as error:
            raise bad_request(str(error)) from None
        try:
            await faults.inject(fault)
        except ValueError as error:
            raise StatusError(409, "Conflict", str(error)) from None
        except EtcdError as error:
            raise StatusError(500, "InternalError", f"{fault.kind}: {error}") from None
        await self._send(response, 202)

    async def end(self, request: Request, response: Response) -> None:
        """End all faults."""
        await self._allowed().end()
        await self._send(response, 200)

    def _allowed(self) -> Faults:
        if self._faults is None:
            raise StatusError(
                403, "Forbidden", "faults are only for an embedded etcd that ktui started, which this is not"
            )
        return self._faults

    async def _send(self, response: Response, status: int) -> None:
        active = self._faults.active if self._faults is not None else []
        await send_json(response, ActiveFaults(active), status)
