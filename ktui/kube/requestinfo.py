"""Split a URL: its path into parts by the rules of kube-apiserver's RequestInfo (the same since 1.19), its
query as Go's net/url and Kubernetes' parameter decoding do.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

from msgspec import Struct

_NAMESPACE_SUBRESOURCES = ("status", "finalize")
_LONG_RUNNING = frozenset({"attach", "exec", "log", "portforward", "proxy"})


class RequestInfo(Struct, frozen=True, gc=False):
    """The parts of a path; all of them are empty unless `is_resource`.

    `namespace` is empty for namespaces and for every other cluster-scoped resource. `watch` is set by the
    deprecated path `/api/v1/watch/pods`, `deeper` if the path continues after the subresource.
    """

    path: str
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False
    deeper: bool = False

    @property
    def group_version(self) -> str:
        """`v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource_id(self) -> str:
        """The id of the Resource: `pods`, `leases.coordination.k8s.io`; "" for other paths."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def incomplete(self) -> bool:
        """True for `/api/v1/watch` without a resource, which upstream answers with 404."""
        special = self.resource in ("watch", "proxy") and not self.watch
        return special and not self.name and not self.namespace

    @property
    def long_running(self) -> bool:
        """True for the subresources that upstream exempts from flow control, of any resource.

        Also for the old path `/api/v1/proxy/…`. A WATCH is long-running too, but not exempt.
        """
        if self.watch:
            return False
        return self.subresource in _LONG_RUNNING or (self.resource == "proxy" and not self.namespace)


class RequestAttributes(NamedTuple):
    """The attributes that flow schemas and authorizers match.

    `verb` is spelt as in their rules: "get", "list" …; `path` is set for non-resource requests only.
    """

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    path: str = ""
    namespace: str = ""
    name: str = ""
    version: str = ""

    @property
    def full_resource(self) -> str:
        """Resource and subresource as in the rules of a role: `pods`, `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def attributes_of(info: RequestInfo, verb: str) -> RequestAttributes:
    """Return the attributes of a request with the API's `verb`."""
    if not info.is_resource:
        return RequestAttributes(verb, path=info.path)
    # The namespace of a Namespace object is the object itself.
    namespace = info.name if info.resource == "namespaces" and not info.group else info.namespace
    return RequestAttributes(
        verb, info.group, info.resource, info.subresource, "", namespace, info.name, info.version
    )


def split_url(url: str) -> tuple[str, str]:
    """Return the decoded path and the raw query of a URL or of a path with a query."""
    rest = url.split("#", 1)[0]
    if "://" in rest.split("?", 1)[0]:
        rest = "/" + rest.split("://", 1)[1].partition("/")[2]
    path, _, query = rest.partition("?")
    return unquote(path), query


_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@lru_cache(maxsize=16)
def pairs(query: str) -> tuple[tuple[str, str], ...]:
    """Return the decoded pairs in order. As in Go, a pair with a bad escape or a semicolon is dropped.

    Cached, because several steps read the same query and a query may be 64 KB long.
    """
    found = []
    for part in query.split("&"):
        if not part or ";" in part or _BAD_ESCAPE.search(part):
            continue
        key, _, value = part.partition("=")
        found.append((unquote_plus(key), unquote_plus(value)))
    return tuple(found)


def first_values(query: str) -> dict[str, str]:
    """Return each parameter's first value; repetitions are ignored."""
    found: dict[str, str] = {}
    for key, value in pairs(query):
        found.setdefault(key, value)
    return found


def boolean(value: str) -> bool:
    """Parse a boolean parameter: only `false` (in any case) and `0` are False; an empty value is True."""
    return value != "0" and value.lower() != "false"


def parse_path(path: str) -> RequestInfo:
    """Parse a decoded path: `/api/v1/…` and `/apis/GROUP/VERSION/…` are resources, the rest is not.

    Nothing is looked up: `resource` may be unknown or have another scope.
    """
    parts = path.strip("/").split("/")
    if len(parts) >= 3 and parts[0] == "api":
        return _resource(path, "", parts[1], parts[2:])
    if len(parts) >= 4 and parts[0] == "apis":
        return _resource(path, parts[1], parts[2], parts[3:])
    return RequestInfo(path)


def _resource(path: str, group: str, version: str, rest: list[str]) -> RequestInfo:
    watch = rest[0] == "watch" and len(rest) > 1
    if watch:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest[:3], "", "")[:3]
    deeper = len(rest) > 3
    return RequestInfo(path, True, group, version, resource, namespace, name, subresource, watch, deeper)


def api_verb(verb: str) -> str:
    """Return the verb as in RBAC, flow schemas and error messages; "" for a method without one."""
    return _API_VERBS.get(verb, "")


def rules_verb(info: RequestInfo, verb: str) -> str:
    """The verb that flow schemas and authorizers see; for a non-resource path the method in lower case."""
    return api_verb(verb) if info.is_resource else verb.lower()


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
_ROUTED_METHODS = {"LIST": "GET", "WATCH": "GET", "DELETECOLLECTION": "DELETE"}
NO_VERB = "OTHER"

_API_VERBS = {
    "GET": "get", "HEAD": "get", "LIST": "list", "WATCH": "watch", "POST": "create", "PUT": "update",
    "PATCH": "patch", "DELETE": "delete", "DELETECOLLECTION": "deletecollection",
}  # fmt: skip


def request_verb(method: str, info: RequestInfo, query: str = "") -> str:
    """Return the verb of a request: the only decision, used to authorize, classify, serve, count and log it.

    The method itself if no verb applies, NO_VERB for an unknown method. Methods are case-sensitive:
    kube-apiserver knows neither `get` nor `LIST`. HEAD is a read like GET. Below `/watch/` every method is a
    WATCH, which `has_route` then refuses where upstream has a route for GET only.
    """
    if info.is_resource and info.watch:
        return "WATCH"
    if method not in _METHODS:
        return NO_VERB
    if not info.is_resource:
        return method
    if method in ("GET", "HEAD") and not info.name:
        return "WATCH" if boolean(first_values(query).get("watch", "0")) else "LIST"
    if method == "DELETE" and not info.name:
        return "DELETECOLLECTION"
    return "GET" if method == "HEAD" else method


def has_route(method: str, verb: str) -> bool:
    """Whether upstream's router has a route for the method of `verb`: it has none for HEAD.

    Custom resources have no routes: their handler is chosen by the verb alone.
    """
    return method == _ROUTED_METHODS.get(verb, verb)


def selected_name(info: RequestInfo, verb: str, query: str) -> str:
    """Return the name that a LIST or WATCH selects by `metadata.name`, "" for none.

    Below `/watch/` the selector names no object (upstream: RequestInfoFactory.NewRequestInfo).
    """
    from ktui.kube.names import path_segment_faults  # start-up time
    from ktui.kube.selectors import FieldSelector
    from ktui.kube.status import StatusError

    reads = verb in ("LIST", "WATCH") and not info.watch
    text = first_values(query).get("fieldSelector", "") if reads else ""
    try:
        name = FieldSelector.parse(text).requires("metadata.name") or ""
    except StatusError:
        return ""
    return "" if path_segment_faults(name) else name
