"""Rules of configuration, nodes, classes, and leases."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from cryptography.x509 import load_pem_x509_csr

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.kube.names import (
    LABEL_1035,
    LABEL_1035_FAULT,
    label_key_faults,
    label_value_faults,
)
from ktui.writes.objectmeta import unqualified
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.addresses import address_range, is_range, usual_range
from ktui.writes.validation.values.checks import (
    Rows,
    config_key,
    demand,
    dns_label,
    duplicate,
    has,
    inside,
    label_key,
    labels,
    natural,
    one_of,
    path_segment,
    positive,
    subdomain,
    text_of,
)
from ktui.writes.validation.values.containers import resource_amounts
from ktui.writes.validation.values.scheduling import EFFECTS, toleration

MOST_DATA_BYTES = 1024 * 1024
_MOST_PRIORITY = 1_000_000_000
_SYSTEM = "system-"
_SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_ONE_OF_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
_TOO_SHORT = "may not specify a duration less than 600 seconds (10 minutes)"


def _bytes_of(data: Obj) -> int:
    """Return how many bytes the values, which are in base64, have."""
    texts = [str(value or "") for value in data.values()]
    return sum(len(text) * 3 // 4 - text[-2:].count("=") for text in texts)


def _keys(data: Obj) -> Iterator[FieldError]:
    for key in data:
        yield from inside(f"[{key}]", config_key(key))


def _config_map(obj: Obj) -> Iterator[FieldError]:
    """Check keys, which are either of text or of bytes, and the size of both together."""
    text, data = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in text:
        yield from inside(f".data[{key}]", config_key(key))
        if key in data:
            yield invalid(f".data[{key}]", key, "duplicate of key present in binaryData")
    yield from inside(".binaryData", _keys(data))
    if sum(len(str(value).encode()) for value in text.values()) + _bytes_of(data) > MOST_DATA_BYTES:
        yield too_long("[]", MOST_DATA_BYTES)


# The keys that a Secret of each type must have.
_DEMANDED = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
    "kubernetes.io/ssh-auth": "ssh-privatekey",
}
_ACCOUNT = "kubernetes.io/service-account.name"


def _secret(obj: Obj) -> Iterator[FieldError]:
    kind, data = obj.get("type") or "", obj.get("data") or {}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if key := _DEMANDED.get(kind):
        if not (data.get(key) if kind.endswith("ssh-auth") else key in data):
            yield required(f".data[{key}]")
        elif key.startswith(".docker"):
            try:
                json.loads(base64.b64decode(str(data[key] or "")))
            except (ValueError, RecursionError):
                yield invalid(f".data[{key}]", "<secret contents redacted>", "invalid JSON")
    elif kind == "kubernetes.io/tls":
        yield from (required(f".data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield required(".data[username]")
            yield required(".data[password]")
    elif kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(f".metadata.annotations[{_ACCOUNT}]")


def _data(data: Obj) -> Iterator[FieldError]:
    yield from _keys(data)
    if _bytes_of(data) > MOST_DATA_BYTES:
        yield too_long("", MOST_DATA_BYTES)


def taint_errors(node: Obj) -> Iterator[FieldError]:
    """Check the taints of a node; upstream's path of them is not that in the object."""
    seen = set()
    for index, taint in enumerate((node.get("spec") or {}).get("taints") or []):
        field = f".metadata.taints[{index}]"
        effect, key = taint.get("effect") or "", str(taint.get("key") or "")
        yield from inside(f"{field}.key", label_key(key))
        if faults := label_value_faults(taint.get("value") or ""):
            yield invalid(f"{field}.value", taint["value"], ";".join(faults))
        yield from inside(f"{field}.effect", one_of(*EFFECTS)(effect))
        pair = taint.get("key"), effect
        if pair in seen:
            shown = to_json(internal(taint, "core.v1.Taint")).decode()
            why = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
            yield FieldError(field, "FieldValueDuplicate", why)
        seen.add(pair)


def _pod_ranges(ranges: list[str]) -> Iterator[FieldError]:
    """A node has one range of addresses for its pods, or one of each family."""
    if len(ranges) < 2:
        return
    wrong = next((at for at, text in enumerate(ranges) if not is_range(text)), None)
    if wrong is not None:
        fault = f"invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {ranges[wrong]})"
        why = f"Internal error: invalid PodCIDRs. failed to check with dual stack with error:{fault}"
        yield FieldError("", "InternalError", why)
    if wrong is not None or len(ranges) > 2 or len({":" in text for text in ranges}) < 2:
        yield invalid("", ranges, "may specify no more than one CIDR for each IP family")


def _parent(address: Obj) -> Obj | None:
    """Return the object that an IPAddress belongs to."""
    parent: Obj | None = (address.get("spec") or {}).get("parentRef")
    return parent


def new_revision_errors(revision: Obj) -> Iterator[FieldError]:
    """The data of a new ControllerRevision is an object."""
    if (data := revision.get("data")) is None:
        yield required(".data", "data is mandatory")
    elif not isinstance(data, dict):
        yield required(".data", "data must be a valid JSON object")


def _priority(obj: Obj) -> Iterator[FieldError]:
    name = str((obj.get("metadata") or {}).get("name") or "")
    if name.startswith(_SYSTEM):
        if fault := _system_fault(name, obj):
            why = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden(".metadata.name", why + fault)
    elif (obj.get("value") or 0) > _MOST_PRIORITY:
        why = f"maximum allowed value of a user defined priority is {_MOST_PRIORITY}"
        yield forbidden(".value", why)


def _system_fault(name: str, obj: Obj) -> str:
    """Return what is wrong with a class of the system (upstream: IsKnownSystemPriorityClass)."""
    if (value := _SYSTEM_CLASSES.get(name)) is None:
        return f"{name} is not a known system priority class"
    if (obj.get("value") or 0) != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


PEM_REQUEST = b"-----BEGIN CERTIFICATE REQUEST-----"
USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only", "digital signature", "email protection", "encipher only",
    "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment",
    "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
)  # fmt: skip


def _certificate(obj: Obj) -> Iterator[FieldError]:
    encoded = (obj.get("spec") or {}).get("request")
    try:
        pem = base64.b64decode(encoded or "")
        if PEM_REQUEST in pem:
            load_pem_x509_csr(pem)
        else:
            yield invalid(".spec.request", encoded, "PEM block type must be CERTIFICATE REQUEST")
    except ValueError as error:
        yield invalid(".spec.request", encoded, str(error))


def cidr_errors(obj: Obj) -> Iterator[FieldError]:
    """The ranges of a ServiceCIDR: one, or one of each family."""
    spec = obj.get("spec") or {}
    ranges, field = spec.get("cidrs") or [], ".spec.cidrs"
    if not ranges:
        yield required(field, "at least one CIDR required")
    elif len(ranges) > 2:
        yield invalid(field, {"CIDRs": ranges}, "may only hold up to 2 values")
    else:
        for index, value in enumerate(ranges):
            yield from inside(f"{field}[{index}]", usual_range(value))
        if len(ranges) == 2 and (":" in ranges[0]) == (":" in ranges[1]) and all(map(is_range, ranges)):
            yield invalid(field, ranges, _ONE_OF_EACH)


def _finalizers(spec: Obj) -> Iterator[FieldError]:
    for finalizer in map(str, spec.get("finalizers") or []):
        faults = label_key_faults(finalizer)
        if unqualified(finalizer):
            faults.append("name is neither a standard finalizer name nor is it fully qualified")
        yield from (invalid(".finalizers", finalizer, why) for why in faults)


def _usages(spec: Obj) -> Iterator[FieldError]:
    usages = spec.get("usages") or []
    yield from has("usages")(spec)
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            yield not_supported(f".usages[{index}]", usage, USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield duplicate(f".usages[{index}]", usage)


def _api_service(obj: Obj) -> Iterator[FieldError]:
    """What an APIService names, and how it is reached; `caBundle` is shown by its size."""
    spec = obj.get("spec") or {}
    group, version = str(spec.get("group") or ""), str(spec.get("version") or "")
    if not group and version != "v1":
        yield required(".spec.group", "only v1 may have an empty group and it better be legacy kube")
    yield from inside(".spec.group", subdomain(group))
    if len(version.encode()) > 63:
        yield invalid(".spec.version", version, "must be no more than 63 characters")
    if not LABEL_1035.fullmatch(version):
        yield invalid(".spec.version", version, LABEL_1035_FAULT)
    for member, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        if not 0 < (priority := spec.get(member) or 0) <= most:
            yield invalid(f".spec.{member}", priority, f"must be positive and less than {most}")
    bundle, service, insecure = spec.get("caBundle"), spec.get("service"), spec.get("insecureSkipTLSVerify")
    skips = ".spec.insecureSkipTLSVerify"
    if service is None:
        if bundle:
            shown = f"{len(base64.b64decode(bundle))} bytes"
            yield invalid(".spec.caBundle", shown, "local APIServices may not have a caBundle")
        if insecure:
            yield invalid(skips, insecure, "local APIServices may not have insecureSkipTLSVerify")
        return
    yield from inside(".spec.service", has("namespace", "name")(service))
    port = service.get("port", 443)
    if not 0 < port < 65536:
        why = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid(".spec.service.port", port, why)
    if insecure and bundle:
        yield invalid(skips, insecure, "may not be true if caBundle is present")


KINDS: dict[str, Rows] = {
    "apiservices.apiregistration.k8s.io": (("", _api_service),),
    "certificatesigningrequests.certificates.k8s.io": (
        ("", _certificate), ("spec", _usages), ("spec", has("signerName")),
        ("spec.expirationSeconds", demand(lambda seconds: seconds >= 600, _TOO_SHORT)),
    ),
    "configmaps": (("", _config_map),),
    "controllerrevisions.apps": (("revision", natural),),
    "ipaddresses.networking.k8s.io": (
        ("", lambda obj: [required(".spec.parentRef")] if _parent(obj) is None else ()),
        ("spec.parentRef.group", subdomain), ("spec.parentRef", text_of("resource", path_segment)),
        ("spec.parentRef", text_of("name", path_segment)), ("spec.parentRef.namespace", path_segment),
    ),
    "leases.coordination.k8s.io": (
        ("spec.leaseDurationSeconds", positive("must be greater than 0")),
        ("spec.leaseTransitions", natural),
    ),
    "namespaces": (("spec", _finalizers),),
    "nodes": (("", taint_errors), ("spec.podCIDRs[]", address_range), ("spec.podCIDRs", _pod_ranges)),
    "priorityclasses.scheduling.k8s.io": (
        ("", _priority), ("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    ),
    "runtimeclasses.node.k8s.io": (
        ("", has("handler")), ("handler", dns_label),
        ("overhead", lambda overhead: resource_amounts({"limits": overhead.get("podFixed") or {}})),
        ("scheduling.nodeSelector", labels), ("scheduling.tolerations[]", toleration),
    ),
    "secrets": (("data", _data), ("", _secret)),
}  # fmt: skip
