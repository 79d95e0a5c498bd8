"""Read objects for admission: all objects of a small kind, from its watch cache."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.server import Server
from ktui.cacher.requests import ListRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.storage.objects import EVERYTHING
from ktui.storage.requests import StoreListRequest
from ktui.writes import stored_objects

Obj = dict[str, Any]


def builtin(group: str, name: str) -> Resource:
    found = BUILTIN.find(group, "v1", name)
    assert found is not None
    return found


async def every(server: Server, group: str, name: str, namespace: str | None = None) -> list[Obj]:
    """Return all objects, or those of a namespace, as trees; from etcd while the cache is first filled."""
    resource = builtin(group, name)
    request = ListRequest(namespace, None, ListOptions(resource_version="0"), EVERYTHING)
    cacher = server.cacher(resource)
    if cacher.size()[0] == 0:  # the usual case, in which even an empty LIST would take 1 % of a write's time
        return []
    try:
        objects = (await cacher.list(request)).objects
    except StatusError:
        objects = (await cacher.store.list(StoreListRequest(namespace))).objects
    return [await stored_objects.tree(server, obj, resource) for obj in objects]


async def find_one(server: Server, group: str, name: str, wanted: str) -> Obj | None:
    """Return one object from the cache, or from etcd if it was just created; None if it does not exist."""
    resource = builtin(group, name)
    found = await stored_objects.find(server, resource, "", wanted)
    if found is None:
        answer = await server.cacher(resource).get(None, wanted, "")
        if answer.object is not None:
            found = await stored_objects.tree(server, answer.object, resource)
    return found


def newest_default(objects: list[Obj], *annotations: str) -> Obj | None:
    """Return the default class: of several the newest, then the first by name."""
    marked = [
        obj
        for obj in sorted(objects, key=lambda obj: str(obj["metadata"]["name"]))
        if any((obj["metadata"].get("annotations") or {}).get(name) == "true" for name in annotations)
    ]
    return max(marked, key=lambda obj: str(obj["metadata"].get("creationTimestamp", "")), default=None)
