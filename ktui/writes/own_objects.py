"""Create the objects that the server and its controllers own, and others that may be missing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import fill_new, timestamp

AT_ONCE = 16
MANAGER = "kube-apiserver"


def resource_of(obj: Obj) -> Resource:
    """Return the built-in resource of an object's apiVersion and kind."""
    group, _, version = obj["apiVersion"].rpartition("/")
    return next(r for r in BUILTIN if r.group == group and version in r.versions and r.kind == obj["kind"])


async def create_own(registry: Registry, obj: Obj, manager: str = MANAGER) -> bool:
    """Complete and create an object; False if it exists. StatusError if etcd refuses."""
    resource = resource_of(obj)
    fill_new(obj, resource, obj["metadata"].get("namespace", ""))
    track_update(None, obj, manager=manager, time=timestamp(), resource=resource)
    try:
        await registry.for_resource(resource).store.create(obj)
    except StatusError as error:
        if error.reason != "AlreadyExists":
            raise
        return False
    return True


async def create_missing(registry: Registry, objects: Iterable[Obj]) -> None:
    """Create those objects that do not exist, several at a time. Raises an ExceptionGroup of StatusErrors."""
    places = asyncio.Semaphore(AT_ONCE)

    async def create(obj: Obj) -> None:
        async with places:
            await create_own(registry, obj)

    async with asyncio.TaskGroup() as group:
        for obj in objects:
            group.create_task(create(obj))


async def update_or_create(
    update: Callable[[], Awaitable[object]], create: Callable[[], Awaitable[object]]
) -> None:
    """Update an object, or create it if it is missing; update it if another client creates it meanwhile."""
    while True:
        try:
            await update()
            return
        except StatusError as missing:
            if missing.code != 404:
                raise
        try:
            await create()
            return
        except StatusError as taken:
            if taken.reason != "AlreadyExists":
                raise
