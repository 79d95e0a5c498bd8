"""Follow a collection through its own watch cache, as an informer inside the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ktui.cacher.requests import ListRequest, WatchRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.selection import SelectionPredicate

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.cacher.registry import Registry
    from ktui.kube.resources import Resource
    from ktui.storage.objects import StoredObject

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0

Replaced = Callable[[Sequence["StoredObject"], int], Awaitable[None]]
Changed = Callable[[Sequence["OutEvent"], int], Awaitable[None]]


async def follow(registry: Registry, resource: Resource, replaced: Replaced, changed: Changed) -> None:
    """Follow `resource` until cancelled.

    Calls `replaced` with all objects and their revision, then `changed` with each batch of events and its
    revision. After an error all objects are read again.
    """
    everything = SelectionPredicate(LabelSelector.parse(""), FieldSelector.parse("", resource), None, None)
    while True:
        try:
            cacher = registry.for_resource(resource)
            await cacher.ready()
            answer = await cacher.list(ListRequest(None, None, ListOptions(resource_version="0"), everything))
            await replaced(answer.objects, answer.rv)
            options = ListOptions(resource_version=str(answer.rv), watch=True)
            stream = await cacher.watch(WatchRequest(None, None, options, everything))
            try:
                async for batch in stream.batches():
                    if any(event.type == "ERROR" for event in batch):
                        break
                    await changed(batch, batch[-1].rv)
            finally:
                stream.close("the server itself")
        except StatusError as error:
            log.warning("%s cannot be followed: %s", resource.id, error.message)
        await asyncio.sleep(RETRY_SECONDS)
