"""The ASGI application: one object that answers every request."""

from __future__ import annotations

from ktui.apiserver.http.asgi import ASGIApp, Receive, Scope, Send
from ktui.apiserver.services import Services


class Application:
    """Starts with the ASGI lifespan: the catalog is synced before the first request is served."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError(scope["type"])


def build_app(services: Services) -> ASGIApp:
    """Compose the server. Nothing runs before the ASGI lifespan starts it."""
    return Application(services)
