"""Run an application's ASGI lifespan, and raise the errors of its start."""

from __future__ import annotations

import asyncio

from ktui.apiserver.http.asgi import ASGIApp, Message


class Lifespan:
    """An application's lifespan. `startup()` raises what the application raised."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def startup(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}}
        self._task = asyncio.ensure_future(self._run(scope))
        await self._send("lifespan.startup")

    async def shutdown(self) -> None:
        if self._task is None or self._task.done():
            return
        await self._send("lifespan.shutdown")
        await self._task
        self._task = None

    async def _run(self, scope: Message) -> None:
        await self._app(scope, self._to_app.get, self._from_app.put)

    async def _send(self, event: str) -> None:
        assert self._task is not None
        self._to_app.put_nowait({"type": event})
        answer = asyncio.ensure_future(self._from_app.get())
        await asyncio.wait({answer, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            self._task.result()  # raises the application's error
            raise RuntimeError(f"the application ended on {event}")
        if answer.result()["type"] != f"{event}.complete":
            raise RuntimeError(answer.result().get("message") or f"the application refused {event}")
