"""From a resource request to the handler of its verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import (
    create,
    delete,
    delete_collection,
    get,
    listing,
    patch,
    pods,
    scale,
    update,
    watch,
)
from ktui.kube.requestinfo import RequestInfo
from ktui.kube.resources import BUILTIN, Resource, ResourceTable
from ktui.kube.status import method_not_allowed, path_not_found

Handler = Callable[[Server, Call, Resource], Awaitable[None]]

OBJECTS: dict[str, Handler] = {
    "GET": get.handle,
    "LIST": listing.handle,
    "WATCH": watch.handle,
    "POST": create.handle,
    "PUT": update.handle,
    "PATCH": patch.handle,
    "DELETE": delete.handle,
    "DELETECOLLECTION": delete_collection.handle,
}
SUBRESOURCES: dict[str, dict[str, Handler]] = {
    "status": {"GET": get.handle, "PUT": update.handle, "PATCH": patch.handle},
    "finalize": {"PUT": update.handle},
    "scale": {"GET": scale.get, "PUT": scale.update, "PATCH": scale.patch},
    "binding": {"POST": pods.bind},
    "eviction": {"POST": pods.evict},
}


class TextNotFound(Exception):
    """404 in plain text: nothing of Kubernetes is served there at all."""


def find_resource(table: ResourceTable, info: RequestInfo) -> Resource:
    """The resource that a path names; TextNotFound or StatusError 404 when it does not fit one."""
    resource = table.find(info.group, info.version, info.resource)
    if resource is None or not resource.stored or not _scope_fits(resource, info):
        if BUILTIN.serves(info.group, info.version):
            raise path_not_found()
        raise TextNotFound
    if info.subresource and info.subresource not in _subresources(resource):
        raise TextNotFound if resource.custom else path_not_found()
    return resource


def find_handler(call: Call, resource: Resource) -> Handler:
    """Who answers; StatusError 405 when that method is not served there."""
    subresource = call.info.subresource
    handlers = SUBRESOURCES[subresource] if subresource else OBJECTS
    handler = handlers.get(call.verb)
    if handler is None or not _reachable(call, resource):
        raise method_not_allowed()
    return handler


def _scope_fits(resource: Resource, info: RequestInfo) -> bool:
    if info.resource == "namespaces" and not info.group:
        return not info.namespace
    if info.namespace and not resource.namespaced:
        return False
    # The old watch form may go without a namespace even with a name.
    return not (info.name and resource.namespaced and not info.namespace)


def _subresources(resource: Resource) -> set[str]:
    return set(resource.subresources) & SUBRESOURCES.keys()


def _reachable(call: Call, resource: Resource) -> bool:
    """Collections of namespaced resources can be written to within a namespace only."""
    if call.verb in ("POST", "DELETECOLLECTION"):
        inside = not resource.namespaced or bool(call.info.namespace)
        named = bool(call.info.name) and not call.info.subresource
        allowed = call.verb == "POST" or "deletecollection" in resource.verbs
        return inside and not named and allowed
    return bool(call.info.name) or call.verb in ("LIST", "WATCH")
