"""Rules of configuration, nodes, classes, and leases."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required, too_long
from ktui.kube.golang import jsonscan
from ktui.kube.json_trees import Obj
from ktui.kube.names import (
    label_key_faults,
)
from ktui.writes.objectmeta import unqualified
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.addresses import is_range, usual_range
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    below,
    config_key,
    conforms,
    demand,
    dns_1035_faults,
    dns_label,
    duplicate,
    has,
    inside,
    labels,
    natural,
    needs,
    one_of,
    path_segment,
    positive,
    subdomain,
    table_of,
    there,
    valid_port,
)
from ktui.writes.validation.values.resources import resource_amounts
from ktui.writes.validation.values.scheduling import toleration

MOST_DATA_BYTES = 1024 * 1024
_MOST_PRIORITY = 1_000_000_000
_SYSTEM = "system-"
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_ONE_OF_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


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
        elif key.startswith(".docker") and (fault := _json_fault(base64.b64decode(data[key] or ""))):
            yield invalid(f".data[{key}]", "<secret contents redacted>", fault)
    elif kind == "kubernetes.io/tls":
        yield from (required(f".data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield required(".data[username]")
            yield required(".data[password]")
    elif kind == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(f".metadata.annotations[{_ACCOUNT}]")


def _json_fault(text: bytes) -> str:
    """Return why a text is not JSON, in the words of Go's scanner; "" if it is."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        try:
            jsonscan.check(text)
        except jsonscan.JSONSyntaxError as error:
            return str(error)
    return ""


def _data(data: Obj) -> Iterator[FieldError]:
    yield from _keys(data)
    if _bytes_of(data) > MOST_DATA_BYTES:
        yield too_long("", MOST_DATA_BYTES)


def new_revision_errors(revision: Obj) -> Iterable[FieldError]:
    """The data of a new ControllerRevision is an object."""
    data = revision.get("data")
    why = "data is mandatory" if data is None else "data must be a valid JSON object"
    return () if isinstance(data, dict) else [required(".data", why)]


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
    if (value := SYSTEM_CLASSES.get(name)) is None:
        return f"{name} is not a known system priority class"
    if (obj.get("value") or 0) != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


def _different(tolerations: list[Obj]) -> Iterator[FieldError]:
    """The tolerations of a RuntimeClass differ in more than their seconds."""
    seen = set[tuple[str, ...]]()
    for index, each in enumerate(tolerations):
        key = tuple(str(each.get(name) or "") for name in ("key", "operator", "value", "effect"))
        if key in seen:
            yield duplicate(f"[{index}]", internal(each, "core.v1.Toleration"))
        seen.add(key)


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
        yield from inside(".finalizers", _finalizer(finalizer))


def finalize_errors(namespace: Obj) -> Iterator[FieldError]:
    """Check finalizers that replace those of a namespace (upstream: ValidateNamespaceFinalizeUpdate)."""
    for at, finalizer in enumerate((namespace.get("spec") or {}).get("finalizers") or []):
        yield from inside(f"spec.finalizers[{at}]", _finalizer(finalizer))


def _finalizer(finalizer: str) -> Iterator[FieldError]:
    faults = label_key_faults(finalizer)
    if unqualified(finalizer):
        faults.append("name is neither a standard finalizer name nor is it fully qualified")
    yield from (invalid("", finalizer, why) for why in faults)


def _priority_up_to(most: int) -> Check:
    return demand(lambda value: 0 < value <= most, f"must be positive and less than {most}")


def _reached(spec: Obj) -> Iterator[FieldError]:
    """How an APIService is reached; `caBundle` is shown by its size."""
    bundle, insecure = spec.get("caBundle"), spec.get("insecureSkipTLSVerify")
    skips = ".insecureSkipTLSVerify"
    if (service := spec.get("service")) is not None:
        yield from inside(".service", _SERVICE(service))
        if insecure and bundle:
            yield invalid(skips, insecure, "may not be true if caBundle is present")
        return
    if bundle:
        shown = f"{len(base64.b64decode(bundle))} bytes"
        yield invalid(".caBundle", shown, "local APIServices may not have a caBundle")
    if insecure:
        yield invalid(skips, insecure, "local APIServices may not have insecureSkipTLSVerify")


_SERVICE = table_of(("", has("namespace", "name")), ("port", valid_port))
_CORE = "only v1 may have an empty group and it better be legacy kube"


KINDS: dict[str, Rows] = {
    "apiservices.apiregistration.k8s.io": below("spec!", (
        ("", needs(lambda spec: spec.get("group") or spec.get("version") == "v1", ".group", _CORE)),
        ("group", subdomain), ("version:text", conforms(dns_1035_faults)),
        ("groupPriorityMinimum:number", _priority_up_to(20000)),
        ("versionPriority:number", _priority_up_to(1000)), ("", _reached),
    )),
    "configmaps": (("", _config_map),),
    "controllerrevisions.apps": (("revision", natural),),
    "ipaddresses.networking.k8s.io": (
        ("spec!", there("parentRef")), ("spec!.parentRef.group", subdomain),
        ("spec!.parentRef.resource:text", path_segment), ("spec!.parentRef.name:text", path_segment),
        ("spec!.parentRef.namespace", path_segment),
    ),
    "leases.coordination.k8s.io": (
        ("spec.leaseDurationSeconds", positive("must be greater than 0")),
        ("spec.leaseTransitions", natural),
    ),
    "namespaces": (("spec", _finalizers),),
    "priorityclasses.scheduling.k8s.io": (
        ("", _priority), ("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    ),
    "runtimeclasses.node.k8s.io": (
        ("", has("handler")), ("handler", dns_label),
        ("overhead", lambda overhead: resource_amounts({"limits": overhead.get("podFixed") or {}})),
        ("scheduling.nodeSelector", labels), ("scheduling.tolerations[]", toleration),
        ("scheduling.tolerations", _different),
    ),
    "secrets": (("data", _data), ("", _secret)),
}  # fmt: skip
