"""Printers of what workloads use: networking, volumes, and the kinds of the control plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ktui.kube.tables.object_fields import (
    NONE,
    UNKNOWN,
    UNSET,
    Cell,
    Obj,
    age,
    born,
    condition,
    count,
    deleting,
    dig,
    first_few,
    holds,
    human_duration,
    items,
    joined,
    labels,
    pair,
    row,
    selector,
    size,
    text,
)

# Services, and routing to them


def _ports(service: Obj) -> str:
    return ",".join(map(_port, items(service, "spec.ports"))) or NONE


def _external_ip(service: Obj) -> str:
    extra = items(service, "spec.externalIPs")
    match dig(service, "spec.type"):
        case "ClusterIP" | "NodePort":
            return ",".join(extra) or NONE
        case "LoadBalancer":
            balanced = _load_balancer_addresses(service)
            return ",".join([*([balanced] if balanced else []), *extra]) or "<pending>"
        case "ExternalName":
            return str(dig(service, "spec.externalName", ""))
        case _:
            return "<unknown>"


def _load_balancer_addresses(obj: Obj) -> str:
    """Addresses of a load balancer: IPs or host names, sorted, without duplicates."""
    ingress = items(obj, "status.loadBalancer.ingress")
    return ",".join(sorted({i.get("ip") or i.get("hostname") or "" for i in ingress} - {""}))


def _port(port: Obj) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort", 0) > 0 else ""
    return f"{port.get('port', 0)}{node_port}/{port.get('protocol', 'TCP')}"


def _slice_port(port: Obj) -> str:
    number, name = port.get("port"), port.get("name")
    return str(number) if number is not None else name if name is not None else "*"


def _class_parameters(obj: Obj) -> str:
    if (reference := dig(obj, "spec.parameters")) is None:
        return NONE
    group = reference.get("apiGroup")
    kind = f"{reference.get('kind', '')}.{group}" if group is not None else reference.get("kind", "")
    return f"{kind}/{reference.get('name', '')}"


def _hosts(ingress: Obj) -> str:
    """The first three hosts; what is left counts rules, also those before them without a host."""
    rules, hosts = items(ingress, "spec.rules"), list[str]()
    for number, rule in enumerate(rules):
        if rule.get("host"):
            hosts.append(rule["host"])
        if len(hosts) == 3 and number + 1 < len(rules):
            return f"{','.join(hosts)} + {len(rules) - 3} more..."
    return ",".join(hosts) or "*"


def _parent(address: Obj) -> str:
    parent = dig(address, "spec.parentRef")
    if parent is None:
        return NONE
    group, namespace = parent.get("group", ""), parent.get("namespace", "")
    resource = f"{parent.get('resource', '')}.{group}" if group else parent.get("resource", "")
    within = f"/{namespace}" if namespace else ""
    return f"{resource.lower()}{within}/{parent.get('name', '')}"


# Volumes, claims, classes and CSI

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_SHORT = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _storage_class(obj: Obj) -> str:
    annotations = dig(obj, "metadata.annotations", {})
    if _CLASS_ANNOTATION in annotations:
        return str(annotations[_CLASS_ANNOTATION])
    return str(dig(obj, "spec.storageClassName", ""))


def _phase(obj: Obj) -> str:
    return "Terminating" if deleting(obj) else str(dig(obj, "status.phase", ""))


def _modes(path: str) -> Callable[[Obj], str]:
    """Short names of access modes, in this order and without duplicates."""
    return lambda obj: ",".join(short for mode, short in _SHORT.items() if mode in items(obj, path))


def _if_bound(cell: Callable[[Obj], Any]) -> Cell:
    return lambda claim: cell(claim) if dig(claim, "spec.volumeName") else ""


def _tokens(driver: Obj) -> str:
    tokens = dig(driver, "spec.tokenRequests")
    return UNSET if tokens is None else joined(tokens, "audience")


# Rights, certificates, admission, classes, flow control, devices


def _subjects(kind: str) -> Cell:
    def cell(binding: Obj) -> str:
        of_kind = [s for s in items(binding, "subjects") if s.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{s.get('namespace', '')}/{s.get('name', '')}" for s in of_kind)
        return ", ".join(s.get("name", "") for s in of_kind)

    return cell


def _expiration(request: Obj) -> str:
    seconds = dig(request, "spec.expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _certificate_condition(request: Obj) -> str:
    kinds = {c.get("type") for c in items(request, "status.conditions")}
    word = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    failed = ",Failed" if "Failed" in kinds else ""
    return word + failed + (",Issued" if dig(request, "status.certificate") else "")


def _certified(request: Obj) -> str:
    kinds = [c.get("type") for c in items(request, "status.conditions")]
    return next((k for k in kinds if k in ("Issued", "Denied", "Failed")), "Pending")


def _parameters(binding: Obj) -> str:
    reference = dig(binding, "spec.paramRef")
    if not reference:
        return UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    chosen = reference.get("selector")
    return UNSET if chosen is None else _go_selector(chosen)


def _go_selector(selector: Obj) -> str:
    """Format a LabelSelector as Go prints the struct (upstream: LabelSelector.String)."""
    labels = "".join(f"{key}: {value}," for key, value in sorted(dig(selector, "matchLabels", {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{one.get('key', '')},Operator:{one.get('operator', '')},"
        f"Values:[{' '.join(one.get('values') or [])}],}},"
        for one in items(selector, "matchExpressions")
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def _claim_state(obj: Obj) -> str:
    words = ["deleted"] if deleting(obj) else []
    if dig(obj, "status.allocation") is None:
        return words[0] if words else "pending"
    reserved = ["reserved"] if items(obj, "status.reservedFor") else []
    return ",".join([*words, "allocated", *reserved])


_SHARES = "spec.limited.nominalConcurrencyShares"
_QUEUING = "spec.limited.limitResponse.queuing."


def _available(api_service: Obj) -> str:
    available = condition(api_service, "Available")
    status = str(available.get("status", "Unknown"))
    return f"False ({available['reason']})" if status == "False" and available.get("reason") else status


def _migrated(migration: Obj) -> str:
    resource = dig(migration, "spec.resource", {})
    return ".".join(filter(None, (resource.get("resource", ""), resource.get("group", ""))))


def _migration(migration: Obj) -> str:
    kinds = ("Succeeded", "Failed", "Running")
    return next((kind for kind in kinds if holds(migration, kind)), "Unknown")


def _encodings(obj: Obj) -> str:
    versions = items(obj, "status.storageVersions")
    each = (f"{v.get('apiServerID', '')}={v.get('encodingVersion', '')}" for v in versions)
    return ",".join(each) or UNKNOWN


_ATTRIBUTES, _MODE = text("spec.volumeAttributesClassName", UNSET), text("spec.volumeMode", UNSET)
_ROLE = pair("roleRef", "kind", "name", missing="/")
_BINDING = row(_ROLE, born, _subjects("User"), _subjects("Group"), _subjects("ServiceAccount"))
_POLICY = row(
    lambda policy: size(policy, "spec.validations") or size(policy, "spec.mutations"),
    pair("spec.paramKind", "apiVersion", "kind", UNSET),
    born,
)
_POLICY_BINDING = row("spec.policyName", _parameters, born)
_WEBHOOKS = row(count("webhooks"), born)
PRINTERS = {
    "services": row(
        "spec.type", lambda service: next(iter(items(service, "spec.clusterIPs")), NONE),
        _external_ip, _ports, born, labels("spec.selector"),
    ),
    "endpointslices.discovery.k8s.io": row(
        "addressType",
        lambda piece: first_few([_slice_port(p) for p in items(piece, "ports")]) or UNSET,
        lambda one: first_few([a for e in items(one, "endpoints") for a in items(e, "addresses")]) or UNSET,
        born,
    ),
    "ingresses.networking.k8s.io": row(
        text("spec.ingressClassName", NONE),
        _hosts,
        _load_balancer_addresses, lambda obj: "80, 443" if items(obj, "spec.tls") else "80", born,
    ),
    "ingressclasses.networking.k8s.io": row("spec.controller", _class_parameters, born),
    "networkpolicies.networking.k8s.io": row(selector("spec.podSelector"), born),
    "servicecidrs.networking.k8s.io": row(lambda obj: ",".join(items(obj, "spec.cidrs")), born),
    # Upstream sends the age as well, though it defines no column for it.
    "ipaddresses.networking.k8s.io": row(_parent, born),
    "persistentvolumes": row(
        text("spec.capacity.storage", "0"), _modes("spec.accessModes"),
        "spec.persistentVolumeReclaimPolicy", _phase,
        pair("spec.claimRef", "namespace", "name", ""), _storage_class, _ATTRIBUTES,
        "status.reason", born, _MODE,
    ),
    "persistentvolumeclaims": row(
        _phase, "spec.volumeName", _if_bound(text("status.capacity.storage", "0")),
        _if_bound(_modes("status.accessModes")), _storage_class, _ATTRIBUTES, born, _MODE,
    ),
    "storageclasses.storage.k8s.io": row(
        "provisioner", text("reclaimPolicy", "Delete"), text("volumeBindingMode", "Immediate"),
        ("allowVolumeExpansion", False), born,
    ),
    "volumeattachments.storage.k8s.io": row(
        "spec.attacher", "spec.source.persistentVolumeName", "spec.nodeName", ("status.attached", False),
        born,
    ),
    "volumeattributesclasses.storage.k8s.io": row("driverName", born),
    "csidrivers.storage.k8s.io": row(
        ("spec.attachRequired", True), ("spec.podInfoOnMount", False), ("spec.storageCapacity", False),
        _tokens, ("spec.requiresRepublish", False),
        lambda obj: ",".join(items(obj, "spec.volumeLifecycleModes")) or NONE, born,
    ),
    "csinodes.storage.k8s.io": row(count("spec.drivers"), born),
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "certificatesigningrequests.certificates.k8s.io": row(
        born, ("spec.signerName", NONE), "spec.username", _expiration, _certificate_condition,
    ),
    "clustertrustbundles.certificates.k8s.io": row(("spec.signerName", NONE)),
    "podcertificaterequests.certificates.k8s.io": row(
        "spec.podName", "spec.serviceAccountName", "spec.nodeName", "spec.signerName", _certified,
        labels("spec.unverifiedUserAnnotations"),
    ),
    "mutatingadmissionpolicies.admissionregistration.k8s.io": _POLICY,
    "validatingadmissionpolicies.admissionregistration.k8s.io": _POLICY,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICY_BINDING,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": _POLICY_BINDING,
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "validatingwebhookconfigurations.admissionregistration.k8s.io": _WEBHOOKS,
    "deviceclasses.resource.k8s.io": row(born),
    "resourceclaims.resource.k8s.io": row(_claim_state, born),
    "resourceclaimtemplates.resource.k8s.io": row(born),
    "resourceslices.resource.k8s.io": row("spec.nodeName", "spec.driver", "spec.pool.name", born),
    "devicetaintrules.resource.k8s.io": row(
        "spec.taint.key", "spec.taint.value", "spec.taint.effect",
        lambda obj: age(dig(obj, "spec.taint.timeAdded")), born,
    ),
    "leases.coordination.k8s.io": row("spec.holderIdentity", born),
    "leasecandidates.coordination.k8s.io": row(
        "spec.leaseName", "spec.binaryVersion", "spec.emulationVersion", born,
    ),
    "priorityclasses.scheduling.k8s.io": row(
        ("value", 0), ("globalDefault", False), born, "preemptionPolicy",
    ),
    "runtimeclasses.node.k8s.io": row("handler", born),
    "flowschemas.flowcontrol.apiserver.k8s.io": row(
        "spec.priorityLevelConfiguration.name", ("spec.matchingPrecedence", 0),
        ("spec.distinguisherMethod.type", NONE), born,
        lambda schema: str(condition(schema, "Dangling").get("status", "?")),
    ),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": row(
        "spec.type", (_SHARES, NONE),
        *((_QUEUING + path, NONE) for path in ("queues", "handSize", "queueLengthLimit")), born,
    ),
    "apiservices.apiregistration.k8s.io": row(
        pair("spec.service", "namespace", "name", "Local"), _available, born,
    ),
    "storageversionmigrations.storagemigration.k8s.io": row(_migrated, _migration),
    "storageversions.internal.apiserver.k8s.io": row(
        ("status.commonEncodingVersion", UNKNOWN), _encodings, born,
    ),
}  # fmt: skip
