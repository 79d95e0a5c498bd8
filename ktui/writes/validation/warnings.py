"""Warnings for objects that are valid, by kind (upstream: WarningsOnCreate of each strategy)."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.quantity import amount
from ktui.writes.validation.pod_warnings import (
    OLD_LABELS,
    WarningRows,
    address_warnings,
    deprecated,
    fractions,
    old_label_warnings,
    old_sources,
    warned,
)
from ktui.writes.validation.updates.field_rules import spec_of
from ktui.writes.validation.updates.services import addresses_of, type_of
from ktui.writes.validation.values.addresses import is_range

TLS, PEM = "kubernetes.io/tls", b"-----BEGIN "
_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_OF_VOLUMES = ("cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd")
_RECYCLED = (
    "The Recycle reclaim policy is deprecated. Instead, the recommended "
    "approach is to use dynamic provisioning."
)
_SECRETS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent "
    "possible logging of tokens in volume attributes"
)
_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_HISTORY = "a negative value retains all historical revisions; a value >= 0 is recommended"
_STATIC = ".static.k8s.io"
_INGRESS_CLASS = "kubernetes.io/ingress.class"


_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
_FEWER = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"


def range_warnings(text: str, field: str) -> Iterator[str]:
    """Yield a warning for a range of IPv6 addresses that is not in its usual form (GetWarningsForCIDR).

    Ranges of other forms are refused, so that upstream's other warnings have no occasion.
    """
    if not is_range(text) or ":" not in text:
        return
    usual = str(ipaddress.ip_network(text, strict=False))
    if usual != text:
        why = f"should be in RFC 5952 canonical format ({quote(usual)})"
        yield f"{field}: IPv6 CIDR value {quote(text)} {why}"


def service_warnings(obj: Obj, _: Obj | None = None) -> Iterator[str]:
    """Yield the warnings: old annotations, addresses in other forms, and what its type does not use."""
    spec, headless = spec_of(obj), _headless(spec_of(obj))
    if _HINTS in ((obj.get("metadata") or {}).get("annotations") or {}):
        yield f"annotation {_HINTS} is deprecated, please use {_MODE} instead"
    for index, text in enumerate(addresses_of(spec) if spec.get("clusterIP") != "None" else ()):
        yield from address_warnings(text, f"spec.clusterIPs[{index}]")
    yield from _ignored(spec) if headless else ()
    external, named = spec.get("externalIPs") or [], type_of(spec) == "ExternalName"
    yield from warned((("spec.externalIPs[]", address_warnings),), obj)
    if external and not headless and not named:
        yield _FEWER
    yield from warned(_BALANCED, obj)
    if named and external:
        yield f"spec.externalIPs is ignored when spec.type is {quote('ExternalName')}"
    if not named and spec.get("externalName"):
        yield f"spec.externalName is ignored when spec.type is not {quote('ExternalName')}"
    if spec.get("trafficDistribution") == "PreferClose":
        yield f"spec.trafficDistribution: {quote('PreferClose')} is deprecated; use {quote('PreferSameZone')}"


_BALANCED: WarningRows = (
    ("spec.loadBalancerIP", address_warnings), ("spec.loadBalancerSourceRanges[]", range_warnings),
)  # fmt: skip


def _headless(spec: Obj) -> bool:
    return type_of(spec) == "ClusterIP" and spec.get("clusterIP") == "None"


def _ignored(spec: Obj) -> Iterator[str]:
    """Yield warnings for fields that a headless service ignores."""
    ignored = {
        "loadBalancerIP": spec.get("loadBalancerIP"),
        "externalIPs": spec.get("externalIPs"),
        "SessionAffinity": spec.get("sessionAffinity", "None") != "None",
    }
    yield from (f"spec.{name} is ignored for headless services" for name, value in ignored.items() if value)


def _annotations(obj: Obj) -> Obj:
    return (obj.get("metadata") or {}).get("annotations") or {}


def _driver(driver: Obj, old: Obj | None) -> Iterator[str]:
    spec = spec_of(driver)
    requests = spec.get("tokenRequests")
    unset = requests and spec.get("serviceAccountTokenInSecrets") is None
    if unset and (old is None or spec_of(old).get("tokenRequests") != requests):
        yield _SECRETS


def _account(account: Obj, old: Obj | None) -> Iterator[str]:
    if _MOUNTABLE in _annotations(account) and not (old and _MOUNTABLE in _annotations(old)):
        why = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        yield f"metadata.annotations[{_MOUNTABLE}]: {why}"


def _ingress(ingress: Obj, old: Obj | None) -> Iterator[str]:
    if old is None and _INGRESS_CLASS in _annotations(ingress) and "ingressClassName" not in spec_of(ingress):
        yield (
            f"annotation {quote(_INGRESS_CLASS)} is deprecated, please use 'spec.ingressClassName' instead"
        )


def _quota(quota: Obj, old: Obj | None) -> Iterator[str]:
    """Yield warnings where more may be requested than the limits allow."""
    hard = spec_of(quota).get("hard") or {}
    for name in ("cpu", "memory", "ephemeral-storage") if old is None else ():
        requested, limit = f"requests.{name}", f"limits.{name}"
        if requested not in hard and name != "ephemeral-storage":
            requested = name
        if requested in hard and limit in hard and amount(hard[requested]) > amount(hard[limit]):
            what = f"{requested} ({hard[requested]}) should be less than {limit} ({hard[limit]})"
            yield f"ResourceQuota {what}"


def _secret(secret: Obj, _: Obj | None) -> Iterator[str]:
    """Yield upstream's warning for a TLS Secret that Go cannot load; here only for missing PEM data."""
    if secret.get("type") != TLS:
        return
    data = secret.get("data") or {}
    for name, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if PEM not in base64.b64decode(data.get(name) or ""):
            yield f"tls: failed to find any PEM data in {what} input"
            return


def _endpoint_slice(piece: Obj, old: Obj | None) -> Iterator[str]:
    if old is None and piece.get("addressType") == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"


def _said(text: str, when: Callable[[Any], object] = lambda _: True) -> Callable[[Any, str], Iterable[str]]:
    """Warn of a value that is there, or for which a test holds."""
    return lambda value, at: [f"{at}: {text}"] if when(value) else ()


def _old_key(key: str, at: str) -> Iterable[str]:
    return [f"{at}: {OLD_LABELS[key]}"] if key in OLD_LABELS else ()


def _old_topology(labels: Obj, at: str) -> Iterator[str]:
    return (f"{at}.{label}: {OLD_LABELS[label]}" for label in labels if label in OLD_LABELS)


_BLOCK: WarningRows = (("cidr", range_warnings), ("except[]", range_warnings))
_SUBSET: WarningRows = (
    ("addresses[].ip", address_warnings), ("notReadyAddresses[].ip", address_warnings),
)  # fmt: skip


def _endpoints(endpoints: Obj, _: str) -> Iterator[str]:
    labels = (endpoints.get("metadata") or {}).get("labels") or {}
    if labels.get("endpoints.kubernetes.io/managed-by") != "endpoint-controller":
        yield from warned((("subsets[]", _SUBSET),), endpoints)


def _mixed_case(name: str, at: str) -> Iterable[str]:
    why = f"driver names should be lowercase; {quote(name)} contains uppercase characters"
    return [f"{at}: {why}"] if name != name.lower() else ()


_old_class = deprecated({_CLASS: 'deprecated since v1.8; use "storageClassName" attribute instead'})
_old_options = deprecated({_MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead'})
_STATIC_NAME = _said(
    f"names ending with {quote(_STATIC)} are reserved for static manifest-based configurations and cannot be "
    "managed via the API", lambda name: name.endswith(_STATIC),
)  # fmt: skip
# By the resource's id: rows of what a kind warns of, besides its pods.
_ROWS: dict[str, WarningRows] = {
    "csistoragecapacities.storage.k8s.io": (
        ("nodeTopology", old_label_warnings), ("nodeTopology.matchLabels", _old_topology),
    ),
    "endpoints": (("", _endpoints),),
    "networkpolicies.networking.k8s.io": (
        ("spec.ingress[].from[].ipBlock", _BLOCK), ("spec.egress[].to[].ipBlock", _BLOCK),
    ),
    "nodes": (
        ("spec.configSource", _said("the feature is removed")),
        ("spec.externalID", _said("this field is deprecated, and is unused by Kubernetes", bool)),
        ("spec.podCIDRs[]", range_warnings),
    ),
    "persistentvolumeclaims": (
        ("metadata.annotations", _old_class), ("spec.resources.requests", fractions("storage")),
        ("spec.resources.limits", fractions("storage")),
    ),
    "persistentvolumes": (
        ("metadata.annotations", _old_class), ("metadata.annotations", _old_options),
        ("spec.persistentVolumeReclaimPolicy", _said(_RECYCLED, "Recycle".__eq__)),
        ("spec.nodeAffinity.required.nodeSelectorTerms[]", old_label_warnings),
        ("spec", old_sources(*_OF_VOLUMES)),
    ),
    "resourceslices.resource.k8s.io": (("spec.driver", _mixed_case),),
    "statefulsets.apps": (("spec.revisionHistoryLimit", _said(_HISTORY, lambda limit: limit < 0)),),
    "storageclasses.storage.k8s.io": (("allowedTopologies[].matchLabelExpressions[].key", _old_key),),
    **{f"{name}.admissionregistration.k8s.io": (("metadata.name", _STATIC_NAME),) for name in (
        "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations",
        "validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations",
    )},
}  # fmt: skip
_WARNINGS: dict[str, Callable[[Obj, Obj | None], Iterator[str]]] = {
    "csidrivers.storage.k8s.io": _driver,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "ingresses.networking.k8s.io": _ingress,
    "resourcequotas": _quota,
    "secrets": _secret,
    "serviceaccounts": _account,
    "services": service_warnings,
}


def own_warnings(resource: str, obj: Obj, old: Obj | None) -> Iterator[str]:
    """Yield what a kind warns of besides its pods; the old object is None if it is new."""
    if resource in _WARNINGS:
        return _WARNINGS[resource](obj, old)
    return warned(_ROWS.get(resource, ()), obj)
