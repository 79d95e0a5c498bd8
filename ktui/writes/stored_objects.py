"""Read objects from the store or the cache, in the form in which storage returns them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ktui.apiserver.server import Server
from ktui.cacher.cacher_requests import ListRequest
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj, decoded
from ktui.kube.listoptions import ListOptions
from ktui.kube.names import path_segment_faults
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, not_found
from ktui.storage.lister import StoreListRequest
from ktui.storage.objects import EVERYTHING, StoredObject
from ktui.telemetry.off_loop import LARGE_BYTES, compute, expect
from ktui.wire.pb import CodecError
from ktui.writes.decoding.body import Unfit, check_metadata


def as_stored(server: Server, obj: Obj, resource: Resource) -> Obj:
    """Return the object as it would be read back: without unknown and empty fields.

    Raises Unfit for an object that cannot be stored.
    """
    check_metadata(obj)
    if resource.custom:
        return obj
    try:
        raw = server.services.codec.encode_object(obj, resource)
    except CodecError as error:
        raise Unfit(error.reason) from error
    stored: Obj = decoded(server.services.codec.object_json(raw, None, resource.api_version))
    return stored


async def tree(server: Server, obj: StoredObject, resource: Resource) -> Obj:
    """Return a stored object as a tree, in the version of the request."""
    expect(obj.size)
    return await compute(_read, server.services.codec.object_json, obj.raw, obj.rv, resource.api_version)


async def current(server: Server, resource: Resource, namespace: str, name: str) -> StoredObject:
    """Return the current object in etcd; raise StatusError 404."""
    answer = await server.cacher(resource).get(namespace or None, name, "")
    if answer.object is None:
        raise not_found(resource, name)
    return answer.object


async def find(server: Server, resource: Resource, namespace: str, name: str) -> Obj | None:
    """The object in the cache as a read-only tree, current enough for admission; None if it is missing."""
    try:
        answer = await server.cacher(resource).get(namespace or None, name, "0")
    except StatusError:
        return None
    found = answer.object
    if found is None:
        return None
    if found.size >= LARGE_BYTES:
        return await tree(server, found, resource)
    return _read_often(server.services.codec.object_json, found.raw, found.rv, resource.api_version)


def _read(read: Callable[[bytes, int, str], bytes], raw: bytes, rv: int, api_version: str) -> Obj:
    document: Obj = decoded(read(raw, rv, api_version))
    return document


# Admission uses only a few namespaces and nodes.
_read_often = lru_cache(maxsize=256)(_read)


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
    return [await tree(server, obj, resource) for obj in objects]


def unfit_name(name: str) -> str:
    """Return why upstream's client does not even ask for an object of this name; "" if it does."""
    if not name:
        return "resource name may not be empty"
    faults = path_segment_faults(name)
    return f"invalid resource name {quote(name)}: [{' '.join(faults)}]" if faults else ""


async def find_one(server: Server, resource: Resource, namespace: str, name: str) -> Obj | None:
    """Return one object from the cache, or from etcd if it was just created; None if it does not exist."""
    found = await find(server, resource, namespace, name)
    if found is None:
        answer = await server.cacher(resource).get(namespace or None, name, "")
        if answer.object is not None:
            found = await tree(server, answer.object, resource)
    return found


def newest_default(objects: list[Obj], *annotations: str) -> Obj | None:
    """Return the default class: of several the newest, then the first by name."""
    marked = [
        obj
        for obj in sorted(objects, key=lambda obj: str(obj["metadata"]["name"]))
        if any((obj["metadata"].get("annotations") or {}).get(name) == "true" for name in annotations)
    ]
    return max(marked, key=lambda obj: str(obj["metadata"].get("creationTimestamp", "")), default=None)
