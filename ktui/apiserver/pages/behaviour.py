"""`/ktui/v1/info` and `/ktui/v1/behaviour`: the server's facts, and the Kubernetes version whose rules
apply."""

from __future__ import annotations

import asyncio

import msgspec

from ktui.apiserver.call import time_allowed
from ktui.apiserver.http.request import BodyTooLarge, Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import send_json
from ktui.apiserver.server import Services
from ktui.contract.paths import Rules
from ktui.documents.limits import DocumentError, check_nesting
from ktui.kube.status import bad_request, request_entity_too_large, timeout
from ktui.kube.versions import BehaviourError, behaviour_of

MAX_BODY = 64 * 1024


class SettingsPages:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def info(self, request: Request, response: Response) -> None:
        await send_json(response, self._services.facts.info())

    async def behaviour(self, request: Request, response: Response) -> None:
        """Send the current rules."""
        behaviour = self._services.settings.behaviour
        await send_json(response, Rules(behaviour.version, dict(behaviour.changed_gates)))

    async def switch(self, request: Request, response: Response) -> None:
        """Apply another version's rules from the next request on; caches are kept."""
        try:
            allowed = time_allowed(request, self._services.settings.behaviour.minor)
            async with asyncio.timeout(allowed):
                body = await request.body(MAX_BODY)
            check_nesting(body)
            wanted = msgspec.json.decode(body, type=Rules)
            self._services.settings.use(behaviour_of(wanted.kube_version, wanted.feature_gates))
        except TimeoutError:
            raise timeout() from None
        except BodyTooLarge:
            raise request_entity_too_large(f"limit is {MAX_BODY}") from None
        except (DocumentError, msgspec.DecodeError, BehaviourError) as error:
            raise bad_request(str(error)) from None
        # All telemetry subscribers learn the new version.
        self._services.bus.publish(self._services.facts.info())
        await self.behaviour(request, response)
