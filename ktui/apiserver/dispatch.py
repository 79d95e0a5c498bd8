"""Find the handler for the verb of a resource request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from ktui.apiserver import answer
from ktui.apiserver.call import Call
from ktui.apiserver.negotiation import negotiate
from ktui.apiserver.pages.responses import Page
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import listing, watch
from ktui.kube.golang.formatting import quote
from ktui.kube.names import path_segment_faults
from ktui.kube.requestinfo import RequestInfo, api_verb, has_route
from ktui.kube.resources import BUILTIN, Resource, ResourceTable
from ktui.kube.status import (
    StatusError,
    bad_request,
    method_not_allowed,
    method_not_supported,
    not_found,
    path_not_found,
)

Handler = Callable[[Server, Call, Resource], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handlers by verb, for objects and for each subresource; for reviews by resource id; pages by path."""

    objects: Mapping[str, Handler] = field(default_factory=dict)
    subresources: Mapping[str, Mapping[str, Handler]] = field(default_factory=dict)
    reviews: Mapping[str, Handler] = field(default_factory=dict)
    pages: Mapping[str, Page] = field(default_factory=dict)

    def __or__(self, other: Handlers) -> Handlers:
        """Return both sets; handlers of `other` take precedence."""
        names = [*self.subresources, *(n for n in other.subresources if n not in self.subresources)]
        subresources = {
            name: {**self.subresources.get(name, {}), **other.subresources.get(name, {})} for name in names
        }
        reviews, pages = {**self.reviews, **other.reviews}, {**self.pages, **other.pages}
        return Handlers({**self.objects, **other.objects}, subresources, reviews, pages)

    def served_subresources(self, resource: Resource) -> set[str]:
        """The subresources of `resource` that have handlers."""
        return set(resource.subresources) & self.subresources.keys()


READS = Handlers(
    {"GET": answer.get, "LIST": listing.handle, "WATCH": watch.handle}, {"status": {"GET": answer.get}}
)


class TextNotFound(Exception):
    """404 of a path that belongs to no Kubernetes API: plain text, since 1.38 a Status."""


def nothing_there(path: str) -> StatusError | TextNotFound:
    """Return the 404 for a path: a Status for built-in groups, even in a version that is not served."""
    root, _, rest = path.strip("/").partition("/")
    group = rest.partition("/")[0]
    known = root == "api" or (bool(group) and BUILTIN.announces(group))
    return path_not_found() if known else TextNotFound()


def find_resource(table: ResourceTable, info: RequestInfo, verb: str, handlers: Handlers) -> Resource:
    """Return the resource that a path names; raise TextNotFound, StatusError 404 or 405."""
    resource = table.find(info.group, info.version, info.resource)
    if resource is None or not _scope_fits(resource, info):
        raise nothing_there(info.path)
    if _only_created(resource, info):
        if verb != "POST":
            raise method_not_allowed()
        if resource.id not in handlers.reviews and not resource.stored:
            raise nothing_there(info.path)
        return resource
    if not resource.stored:
        raise nothing_there(info.path)
    if info.watch and info.subresource:
        raise method_not_supported(resource, "watch") if resource.custom else path_not_found()
    if resource.custom:
        if info.subresource and info.subresource not in handlers.served_subresources(resource):
            raise not_found(resource, info.name)
    elif (info.deeper and info.subresource != "proxy") or (
        info.subresource and info.subresource not in handlers.served_subresources(resource)
    ):
        raise path_not_found()
    return resource


def _only_created(resource: Resource, info: RequestInfo) -> bool:
    """Whether a path only accepts POST: a review, a binding, a token."""
    if info.watch:
        return False
    if not resource.stored:
        inside = bool(info.namespace) or not resource.namespaced
        return not info.name and inside and resource.verbs == ("create",)
    return info.subresource == "token" and "token" in resource.subresources and not info.deeper


def find_handler(call: Call, resource: Resource, handlers: Handlers) -> Handler:
    """Return the handler of the request; raise StatusError 405 if the method is not supported."""
    if (review := handlers.reviews.get(resource.id)) is not None:
        return review
    subresource = call.info.subresource
    by_verb = handlers.subresources[subresource] if subresource else handlers.objects
    handler = by_verb.get(call.verb)
    if resource.custom:
        return _custom_handler(call, resource, handler)
    routed = subresource == "proxy" or has_route(call.request.method, call.verb)
    if handler is None or not routed or not _reachable(call, resource):
        raise method_not_allowed()
    _check_name(call, resource)
    return handler


def _check_name(call: Call, resource: Resource) -> None:
    """Raise StatusError 400 for a name that cannot be part of a key; 406 takes precedence."""
    name = call.info.name
    faults = path_segment_faults(name) if call.verb in ("GET", "PATCH", "DELETE") else []
    if faults:
        negotiate(call.request.accept, custom=resource.custom, drops=call.drops)
        raise bad_request(f"Name parameter invalid: {quote(name)}: {';'.join(faults)}")


def _custom_handler(call: Call, resource: Resource, handler: Handler | None) -> Handler:
    """Return a custom resource's handler, by verb and not by route; raise TextNotFound for a wrong scope."""
    everywhere = resource.namespaced and not call.info.namespace
    if everywhere and call.verb not in ("LIST", "WATCH"):
        raise TextNotFound
    if handler is None:
        raise method_not_supported(resource, api_verb(call.verb))
    if call.verb in ("PUT", "PATCH") and not call.info.name:
        raise bad_request("name must be provided")
    _check_name(call, resource)
    return handler


def _scope_fits(resource: Resource, info: RequestInfo) -> bool:
    if info.resource == "namespaces" and not info.group:
        return not info.namespace
    if info.namespace and not resource.namespaced:
        return False
    # The deprecated watch path works without a namespace and even with a name, but not as a route.
    if info.watch and resource.custom:
        return True
    return not (info.name and resource.namespaced and not info.namespace)


def _reachable(call: Call, resource: Resource) -> bool:
    """Whether the path allows the write: in namespaced resources only below a namespace."""
    if call.verb in ("POST", "DELETECOLLECTION"):
        inside = not resource.namespaced or bool(call.info.namespace)
        named = bool(call.info.name) and not call.info.subresource
        allowed = call.verb == "POST" or "deletecollection" in resource.verbs
        return inside and not named and allowed
    return bool(call.info.name) or call.verb in ("LIST", "WATCH")
