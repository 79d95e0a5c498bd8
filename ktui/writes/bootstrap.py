"""Objects that kube-apiserver 1.36 creates in an empty etcd when it starts.

System namespaces, default priority classes, the kubernetes Service with its endpoints, the default
ServiceCIDR, and the APIServices of its own groups; those of RBAC and flow control are made elsewhere.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.writes.objectmeta import timestamp
from ktui.writes.own_objects import create_missing
from ktui.writes.service_addresses import ServiceRange, address_object
from ktui.writes.validation.values.cluster import SYSTEM_CLASSES

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_CRITICAL = "Used for system critical pods that must"
PRIORITY_CLASSES = {
    "system-node-critical": "not be moved from their current node.",
    "system-cluster-critical": "run in the cluster, but can be moved to another node if necessary.",
}
# The groupPriorityMinimum of each group, and the versionPriority of versions other than 15.
GROUP_PRIORITIES = {
    "": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600, "autoscaling": 17500, "batch": 17400, "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800, "apiextensions.k8s.io": 16700, "admissionregistration.k8s.io": 16700,
    "scheduling.k8s.io": 16600, "coordination.k8s.io": 16500, "node.k8s.io": 16300,
    "discovery.k8s.io": 16200, "resource.k8s.io": 16200, "flowcontrol.apiserver.k8s.io": 16100,
}  # fmt: skip
VERSION_PRIORITIES = {
    ("", "v1"): 1, ("autoscaling", "v2"): 30, ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
}  # fmt: skip
CUSTOM_PRIORITY, CUSTOM_VERSION_PRIORITY = 1000, 100
AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged"
SERVICE_LABEL = {"kubernetes.io/service-name": "kubernetes"}
API_PORT = 443
LOOPBACK = "127.0.0.1"


def cluster_objects(services: ServiceRange, address: str, port: int, client_ca: str = "") -> Iterator[Obj]:
    """Yield all objects except APIServices; the server listens on `address` (an IP) and `port`.

    The ConfigMap tells extension API servers the CA (PEM) of the server's users. Without `client_ca`, and
    with no CA for request headers, upstream writes none.
    """
    if client_ca:
        head = _head("v1", "ConfigMap", "extension-apiserver-authentication", "kube-system")
        yield {**head, "data": {"client-ca-file": client_ca}}
    for name in NAMESPACES:
        yield {
            **_head("v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name}),
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        }
    for name, description in PRIORITY_CLASSES.items():
        head = _head("scheduling.k8s.io/v1", "PriorityClass", name)
        policy = {"preemptionPolicy": "PreemptLowerPriority"}
        yield {**head, "value": SYSTEM_CLASSES[name], "description": f"{_CRITICAL} {description}", **policy}
    ready = _status("Ready", "", "Kubernetes default Service CIDR is ready")
    head = _head("networking.k8s.io/v1", "ServiceCIDR", "kubernetes")
    yield {**head, "spec": {"cidrs": [services.cidr]}, "status": ready}
    yield address_object(services.first, "default", "kubernetes")
    yield from _kubernetes_service(services, address, port)


def api_services(table: ResourceTable) -> Iterator[Obj]:
    """Yield an APIService for each served version of a group."""
    served = {(r.group, version) for r in table if not r.gated and not r.custom for version in r.versions}
    for group, version in sorted(served):
        if group in GROUP_PRIORITIES and "alpha" not in version and "beta" not in version:
            priority = VERSION_PRIORITIES.get((group, version), 15)
            yield api_service(group, version, GROUP_PRIORITIES[group], priority, "onstart")


def api_service(group: str, version: str, priority: int, version_priority: int, managed: str) -> Obj:
    """A local APIService; `managed` is "onstart" for built-in groups, "true" for those of definitions."""
    spec: Obj = {"group": group} if group else {}
    spec |= {"version": version, "groupPriorityMinimum": priority, "versionPriority": version_priority}
    name, labels = f"{version}.{group}", {AUTOMANAGED: managed}
    head = _head("apiregistration.k8s.io/v1", "APIService", name, labels=labels)
    local = _status("Available", "Local", "Local APIServices are always available")
    return {**head, "spec": spec, "status": local}


def _status(kind: str, reason: str, message: str) -> Obj:
    times = {"lastTransitionTime": timestamp(), "reason": reason, "message": message}
    return {"conditions": [{"type": kind, "status": "True", **times}]}


def _kubernetes_service(services: ServiceRange, address: str, port: int) -> Iterator[Obj]:
    labels = {"component": "apiserver", "provider": "kubernetes"}
    name, first = "https", services.first
    spec: Obj = {
        "ports": [{"name": name, "protocol": "TCP", "port": API_PORT, "targetPort": port}],
        "clusterIP": first, "clusterIPs": [first], "type": "ClusterIP", "sessionAffinity": "None",
        "ipFamilies": [services.family], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
    }  # fmt: skip
    head = _head("v1", "Service", "kubernetes", "default", labels)
    yield {**head, "spec": spec, "status": {"loadBalancer": {}}}
    mirrored = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    ports = [{"name": name, "port": port, "protocol": "TCP"}]
    head = _head("v1", "Endpoints", "kubernetes", "default", mirrored)
    yield {**head, "subsets": [{"addresses": [{"ip": address}], "ports": ports}]}
    head = _head("discovery.k8s.io/v1", "EndpointSlice", "kubernetes", "default", SERVICE_LABEL)
    endpoints = [{"addresses": [address], "conditions": {"ready": True}}]
    yield {
        **head,
        "addressType": "IPv6" if ":" in address else "IPv4",
        "endpoints": endpoints,
        "ports": ports,
    }


def _head(api_version: str, kind: str, name: str, namespace: str = "", labels: Obj | None = None) -> Obj:
    metadata: Obj = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if labels:
        metadata["labels"] = dict(labels)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


async def create_cluster_objects(
    registry: Registry, cidr: str, host: str, port: int, client_ca: str = ""
) -> None:
    """Create the objects that do not exist; raise an ExceptionGroup of StatusErrors.

    `host` is where the server listens; `client_ca` are the certificates of `--client-ca-file`.
    """
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:  # a host name
        address = LOOPBACK
    objects = cluster_objects(ServiceRange(cidr), address, port, client_ca)
    await create_missing(registry, [*objects, *api_services(BUILTIN)])


def service_range_of(text: str) -> str:
    """Return the network of `--service-cluster-ip-range`; ValueError says what is wrong with it."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"--service-cluster-ip-range {text}: write a network like 10.96.0.0/16") from None
    largest = 20 if network.version == 4 else 64
    bits = network.max_prefixlen - network.prefixlen
    if bits < 3:
        raise ValueError(f"--service-cluster-ip-range {text}: at least 8 addresses are needed")
    if bits > largest:
        raise ValueError(f"--service-cluster-ip-range {text}: at most 2^{largest} addresses are allowed")
    return str(network)
