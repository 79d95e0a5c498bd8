"""Aggregated APIs: groups whose requests kube-apiserver passes on to another server.

Such a server has storage of its own (or none), so neither routes nor advice of kube-apiserver's rules apply.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from ktui.documents.limits import DocumentError
from ktui.documents.typed import decode_json
from ktui.kube.resources import BUILTIN

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
# Served by metrics-server, Prometheus and KEDA adapters, and the Operator Lifecycle Manager.
_METRICS = "metrics.k8s.io"
_NEVER_STORED = frozenset((_METRICS, "packages.operators.coreos.com"))
_BUILTIN = frozenset((*(resource.group for resource in BUILTIN.all()), "extensions"))  # the last: up to 1.21


class _Service(msgspec.Struct):
    name: str = ""


class _ApiServiceSpec(msgspec.Struct):
    group: str = ""
    service: _Service | None = None


class _ApiService(msgspec.Struct):
    spec: _ApiServiceSpec = msgspec.field(default_factory=_ApiServiceSpec)


class _ApiServices(msgspec.Struct):
    items: list[_ApiService] = []


@dataclass(frozen=True, slots=True)
class AggregatedGroups:
    """Which API groups other servers serve. `named`: by the user or by APIServices.

    `custom`: the groups of all CustomResourceDefinitions, None if these are not known.
    """

    named: frozenset[str] = frozenset()
    custom: frozenset[str] | None = None

    def has(self, resource_id: str) -> bool:
        """True if another server serves a resource (`pods.metrics.k8s.io`)."""
        group = resource_id.partition(".")[2]
        if group in self.named or group in _NEVER_STORED or group.endswith(f".{_METRICS}"):
            return True
        return self.custom is not None and group not in self.custom and group not in _BUILTIN


NOT_AGGREGATED = AggregatedGroups()
"""Only the groups that no kube-apiserver stores."""


def groups_of(named: Iterable[str], crds: bytes = b"", services: bytes = b"") -> AggregatedGroups:
    """Return the groups for names of the user, and for the LISTs of CRDs and APIServices as JSON.

    A LIST that cannot be read says nothing.
    """
    found = set(named)
    try:
        read = decode_json(services, _ApiServices) if services else _ApiServices()
    except DocumentError:
        read = _ApiServices()
    found |= {item.spec.group for item in read.items if item.spec.service is not None}
    return AggregatedGroups(frozenset(found - _BUILTIN), _groups_of_crds(crds))


def _groups_of_crds(crds: bytes) -> frozenset[str] | None:
    try:
        read = decode_json(crds, _ApiServices) if crds else None
    except DocumentError:
        return None
    return None if read is None else frozenset(item.spec.group for item in read.items)
