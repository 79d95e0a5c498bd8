"""Parse a read request (PATH?QUERY, as a client writes it) for the routing rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar
from urllib.parse import urlsplit

from ktui.kube.gates import SHARDED
from ktui.kube.listoptions import ListOptions, parse_get_options, parse_list_options
from ktui.kube.requestinfo import RequestInfo, parse_path, request_verb, split_url
from ktui.kube.resources import BUILTIN, NODE_NAME, Resource
from ktui.kube.routing.parameters import (
    NAMESPACE,
    NO_TOKEN,
    DecodedToken,
    RequestScope,
    TokenState,
    read_token,
    scope_of,
)
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour

S = TypeVar("S", LabelSelector, FieldSelector)

VERBS = ("get", "list", "watch")
# Subresources that are read from the store like the object itself.
_STORED_SUBRESOURCES = ("status", "scale", "ephemeralcontainers", "resize", "approval")
# The watch-cache size of events is 0 in every minor; both groups share one registry.
_UNCACHED = (("", "events"), ("events.k8s.io", "events"))


class RequestError(ValueError):
    """The text is not a read request; the message says what is wrong and what to write."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A GET, LIST or WATCH of one resource.

    `resource` is None for a kind that is not built in. `refusal` is the 400 that the server returns before
    any other check (`limit=abc`); then options and selectors are empty. `field_fault` is the 400 for a field
    label that the resource does not support: upstream checks it only after the options
    (`ktui.kube.listoptions.read_list`).
    """

    url: str
    verb: str
    info: RequestInfo
    resource: Resource | None
    options: ListOptions
    labels: LabelSelector
    fields: FieldSelector
    token: DecodedToken = NO_TOKEN
    refusal: StatusError | None = None
    field_fault: StatusError | None = None

    @property
    def refused(self) -> bool:
        """True if the server refuses the request in every version, whatever its options are."""
        return self.refusal is not None or self.field_fault is not None

    @property
    def cached(self) -> bool:
        """True if kube-apiserver keeps a watch cache of the resource by default."""
        return is_cached(self.info.group, self.info.resource)

    @property
    def required_namespace(self) -> str:
        """The metadata.namespace that the selector requires, "" for none."""
        return self.fields.requires(NAMESPACE) or ""

    @property
    def of_pods(self) -> bool:
        return (self.info.group, self.info.resource) == ("", "pods")

    @property
    def required_node(self) -> str | None:
        """The node that the selector requires, "" for unscheduled pods; None for any, or other resources."""
        return self.fields.requires(NODE_NAME) if self.of_pods else None

    @property
    def cluster_scoped(self) -> bool:
        return self.resource is not None and not self.resource.namespaced

    def scope(self, behaviour: Behaviour) -> RequestScope:
        """Return the keys that the request concerns; a kind that is not built in counts as namespaced."""
        return scope_of(
            self.info.namespace,
            None,
            self.labels,
            self.fields,
            behaviour,
            namespaced=not self.cluster_scoped,
            continued=self.token.state is not TokenState.NONE,
            sharded=bool(self.options.shard_selector) and behaviour.enabled(SHARDED),
        )


def is_cached(group: str, resource: str) -> bool:
    """True if kube-apiserver keeps a watch cache of the resource by default."""
    return (group, resource) not in _UNCACHED


def parse_request(url: str, verb: str = "") -> ReadRequest:
    """Parse a path with its query, or a whole URL. `verb` ("get", "list", "watch") overrides the verb.

    Raises RequestError for anything but a read of a stored resource, and for
    selectors that cannot be parsed.
    """
    path, query = _split(url)
    info = parse_path(path)
    if not info.is_resource:
        raise RequestError(
            f"{path!r} is not an API path of a resource: "
            "write it like '/api/v1/pods' or '/apis/apps/v1/deployments'"
        )
    resource = _resource(info)
    verb = _verb(verb, info, query)
    try:
        options, labels, fields = _options(verb, info, query)
    except StatusError as refusal:
        return ReadRequest(
            url, verb, info, resource, ListOptions(), LabelSelector(), FieldSelector(), refusal=refusal
        )
    field_fault = None
    try:
        fields = fields if resource is None else fields.for_resource(resource)
    except StatusError as fault:
        field_fault = fault
    token = read_token(options.continue_ if verb == "list" else "")
    return ReadRequest(url, verb, info, resource, options, labels, fields, token, field_fault=field_fault)


def _split(url: str) -> tuple[str, str]:
    try:
        urlsplit(url)
    except ValueError as error:
        raise RequestError(f"{url!r} is not a URL: {error}") from None
    path, query = split_url(url.strip())
    if not path.startswith("/"):
        raise RequestError(f"{url!r} is not an API path: it starts with '/', like '/api/v1/pods?limit=500'")
    return path, query


def _resource(info: RequestInfo) -> Resource | None:
    resource = BUILTIN.find(info.group, info.version, info.resource)
    if resource is None:
        if BUILTIN.serves(info.group, info.version):
            at_version = (r for r in BUILTIN if r.group == info.group and info.version in r.versions)
            served = sorted(r.resource for r in at_version)
            near = get_close_matches(info.resource, served, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(served)}"
            raise RequestError(f"{info.group_version} has no resource {info.resource!r}: {hint}")
        return None
    if not resource.stored:
        raise RequestError(f"{resource.id} are answered, never stored: there is nothing to route")
    if info.namespace and not resource.namespaced:
        raise RequestError(f"{resource.id} belong to no namespace: ask {resource.path}")
    if info.name and resource.namespaced and not info.namespace:
        hint = resource.path.replace(
            resource.resource, f"namespaces/NAMESPACE/{resource.resource}/{info.name}"
        )
        raise RequestError(f"{resource.id} live in namespaces: ask {hint}")
    return resource


def _verb(requested: str, info: RequestInfo, query: str) -> str:
    if info.subresource and info.subresource not in _STORED_SUBRESOURCES:
        raise RequestError(
            f"the subresource {info.subresource!r} is not a read of a stored object: nothing to route"
        )
    if requested == "get" and not info.name:
        raise RequestError(f"a GET names one object: {info.path.rstrip('/')}/NAME")
    if requested == "list" and info.name:
        raise RequestError(f"a LIST names a collection, not the object {info.name!r}: leave the name away")
    natural = "get" if info.subresource else request_verb("GET", info, query).lower()
    return requested or natural


def _options(verb: str, info: RequestInfo, query: str) -> tuple[ListOptions, LabelSelector, FieldSelector]:
    if verb == "get":
        return parse_get_options(query), LabelSelector(), FieldSelector()
    options = parse_list_options(query)
    labels = _parsed(LabelSelector.parse, options.label_selector, "labelSelector")
    fields = _parsed(FieldSelector.parse, options.field_selector, "fieldSelector")
    if info.name:
        fields = FieldSelector([*fields.terms, *FieldSelector.parse(f"metadata.name={info.name}").terms])
    return options, labels, fields


def _parsed(parse: Callable[[str], S], text: str, name: str) -> S:
    try:
        return parse(text)
    except StatusError as error:
        raise RequestError(f"{name}={text!r} cannot be parsed: {error.message}") from None
