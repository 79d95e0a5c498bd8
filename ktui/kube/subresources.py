"""The kinds and verbs of a resource's subresources, as discovery lists them."""

from __future__ import annotations

from typing import NamedTuple

from ktui.kube.resources import Resource

_READ_WRITE = ("get", "patch", "update")
_CONNECT = ("create", "get")
_PROXY = ("create", "delete", "get", "patch", "update")


class Subresource(NamedTuple):
    """A subresource. `group` and `version` are those of its kind, ("", "") for the resource's own."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_SPECIAL = {
    "pods/attach": Subresource("attach", "PodAttachOptions", _CONNECT),
    "pods/binding": Subresource("binding", "Binding", ("create",)),
    "pods/eviction": Subresource("eviction", "Eviction", ("create",), "policy", "v1"),
    "pods/exec": Subresource("exec", "PodExecOptions", _CONNECT),
    "pods/log": Subresource("log", "Pod", ("get",)),
    "pods/portforward": Subresource("portforward", "PodPortForwardOptions", _CONNECT),
    "pods/proxy": Subresource("proxy", "PodProxyOptions", _PROXY),
    "nodes/proxy": Subresource("proxy", "NodeProxyOptions", _PROXY),
    "services/proxy": Subresource("proxy", "ServiceProxyOptions", _PROXY),
    "namespaces/finalize": Subresource("finalize", "Namespace", ("update",)),
    "serviceaccounts/token": Subresource("token", "TokenRequest", ("create",), "authentication.k8s.io", "v1"),
}


def subresources_of(resource: Resource) -> list[Subresource]:
    """Each subresource; those without an entry have the resource's kind and can be read and written."""
    return [_subresource(resource, name) for name in resource.subresources]


def _subresource(resource: Resource, name: str) -> Subresource:
    if name == "scale":
        return Subresource(name, "Scale", _READ_WRITE, "autoscaling", "v1")
    special = None if resource.group else _SPECIAL.get(f"{resource.resource}/{name}")
    return special or Subresource(name, resource.kind, _READ_WRITE)
