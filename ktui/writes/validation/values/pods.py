"""Rules of pod specs, in pods and in templates, in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.names import subdomain_faults
from ktui.writes.objectmeta import annotation_errors
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.selectors import label_errors
from ktui.writes.validation.values.addresses import address
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    any_subdomain,
    below,
    between,
    demand,
    distinct,
    dns_label,
    duplicate,
    inside,
    label_key,
    labels,
    listed,
    needs,
    numbered,
    one_of,
    refuse,
    subdomain,
    table_of,
    user_id,
)
from ktui.writes.validation.values.pod_containers import (
    RUNNING,
    containers,
    ephemeral_containers,
    file_keys,
    host_network,
    init_containers,
    pod_of,
    trimmed,
)
from ktui.writes.validation.values.resources import pod_resources, resource_amounts
from ktui.writes.validation.values.scheduling import AFFINITY, spread, toleration
from ktui.writes.validation.values.security import OF_POD, other_profiles, profile_errors
from ktui.writes.validation.values.systems import host_processes, own_users, system
from ktui.writes.validation.values.volumes import volumes

_MOST_SEARCHED = 2048
_MIRROR, _DELETION_COST = "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile("-?[1-9][0-9]{0,9}|0")
_LONGEST_SYSCTL, _LONGEST_HOSTNAME = 253, 64
_SWAPPED = str.maketrans("./", "/.")
_IPC = frozenset(
    f"kernel.{name}"
    for name in (
        "sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg"
    )
)  # fmt: skip
NOT_OF_HOSTS = tuple(f"may not be specified when '{of}' is true" for of in ("hostNetwork", "hostIPC"))
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"


def _dns(spec: Obj) -> Iterator[FieldError]:
    config = spec.get("dnsConfig") or {}
    if spec.get("dnsPolicy") == "None" and not config:
        yield required(".dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
    elif spec.get("dnsPolicy") == "None" and not config.get("nameservers"):
        why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield required(".dnsConfig.nameservers", why)
    else:
        yield from inside(".dnsConfig", _RESOLVER(config))


def _at_most(most: int, what: str) -> Check:
    return demand(lambda items: len(items) <= most, f"must not have more than {most} {what}")


def _search(search: str) -> Iterable[FieldError]:
    domain = search.removesuffix(".")
    if search == "." or not subdomain_faults(domain.replace("_", "a")):  # an underscore is like a letter
        return ()
    return [invalid("", domain, _SEARCH_FAULT)]


def _claims(claims: list[Obj]) -> Iterator[FieldError]:
    """Check which devices a pod claims: each by a claim, or by a template of one."""
    for where, claim, name, again in numbered(claims, "name"):
        if not name:
            yield required(f"{where}.name")
        elif again:
            yield duplicate(f"{where}.name", name)
        else:
            yield from inside(f"{where}.name", dns_label(name))
        given = {n: claim.get(n) for n in ("resourceClaimName", "resourceClaimTemplateName")}
        there = [n for n, value in given.items() if value is not None]
        if len(there) != 1:
            why = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            if there:
                why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(where, internal(claim, "core.v1.PodResourceClaim"), why)
        for member in there:
            yield from inside(f"{where}.{member}", any_subdomain(str(given[member])))


_PART = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH_FAULT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    rf"'{_PART}(\.{_PART})*')"
)
_TOO_LONG = f"must not have more than {_MOST_SEARCHED} characters (including spaces) in the search list"
_RESOLVER = table_of(
    ("nameservers", _at_most(3, "nameservers")), ("nameservers[]", address),
    ("searches", _at_most(32, "search paths")),
    ("searches", demand(lambda searches: len(" ".join(searches).encode()) <= _MOST_SEARCHED, _TOO_LONG)),
    ("searches[]", _search), ("options[]", needs(lambda o: o.get("name"), "", "must not be empty")),
)  # fmt: skip


# Upstream's path of a gate's name is that of the gate.
_gates = distinct("name", lambda gate: label_key(gate.get("name") or ""), field="")


def _sysctls(spec: Obj) -> Iterator[FieldError]:
    """Check the sysctls, of which those of a namespace that is the host's are not the pod's."""
    sysctls = (spec.get("securityContext") or {}).get("sysctls") or []
    for where, _, name, again in numbered(sysctls, "name"):
        where = f".securityContext.sysctls{where}"
        if not name:
            yield required(f"{where}.name")
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            why = f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
            yield invalid(f"{where}.name", name, why)
        elif again:
            yield duplicate(f"{where}.name", name)
        owner = _namespace_of(name)
        if spec.get(owner):
            why = NOT_OF_HOSTS[owner == "hostIPC"]
            yield invalid(f"{where}.name", name, why)


def _namespace_of(sysctl: str) -> str:
    """Return the member by which a pod shares a sysctl's namespace; "" if it has none (GetNamespace)."""
    separator = re.search("[./]", sysctl)
    if separator and separator[0] == "/":
        sysctl = sysctl.translate(_SWAPPED)
    sysctl = sysctl.partition("*")[0]
    if sysctl.startswith("net."):
        return "hostNetwork"
    return "hostIPC" if sysctl in _IPC or sysctl.startswith("fs.mqueue.") else ""


def _shared(spec: Obj) -> Iterator[FieldError]:
    """A shared process namespace; upstream has these members in the security context."""
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(".securityContext.shareProcessNamespace", True, why)


def _hostname(spec: Obj) -> Iterator[FieldError]:
    """Check the name that replaces a pod's hostname (upstream: validatePodHostName)."""
    name, field = spec.get("hostnameOverride"), ".hostnameOverride"
    if name is None:
        return
    for other in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(other):
            yield forbidden(field, f"may not be specified when {other} is true")
    if len(name.encode()) > _LONGEST_HOSTNAME:
        yield too_long(field, _LONGEST_HOSTNAME)
    yield from inside(field, any_subdomain(name))


# The rules of its security context (upstream: validatePodSpecSecurityContext).
_SECURITY: Rows = (
    *((f"securityContext.{name}", user_id) for name in ("fsGroup", "runAsUser", "runAsGroup")),
    ("securityContext.supplementalGroups[]", user_id), ("", _shared), ("", _sysctls),
    *below("securityContext", (
        ("fsGroupChangePolicy", listed("Always", "OnRootMismatch")), *OF_POD,
        ("supplementalGroupsPolicy", listed("Merge", "Strict")), ("seLinuxChangePolicy", listed("Recursive")),
    )),
)  # fmt: skip
_REST = table_of(
    ("restartPolicy", one_of("Always", "OnFailure", "Never")),
    ("dnsPolicy", one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    ("nodeSelector", labels), *_SECURITY,
    *below("affinity", AFFINITY), ("", _dns), ("readinessGates[].conditionType:text", label_key),
    ("schedulingGates", _gates), ("topologySpreadConstraints", spread),
    ("", host_processes), ("", own_users), ("", _hostname),
    ("serviceAccountName", subdomain), ("nodeName", subdomain),
    ("activeDeadlineSeconds", between(1, 2**31 - 1)), ("hostname", dns_label), ("subdomain", dns_label),
    ("tolerations[]", toleration), ("hostAliases[].ip:text", address),
    ("hostAliases[].hostnames[]", any_subdomain),
    ("priorityClassName", subdomain), ("runtimeClassName", any_subdomain),
    ("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    ("overhead", lambda amounts: resource_amounts({"limits": amounts})), ("", system),
    ("", file_keys),
)  # fmt: skip


def _spec(spec: Obj, owner: Obj | None = None) -> Iterator[FieldError]:
    """Check the spec of a pod, its `owner`, or that of a template, which has none."""
    valid: dict[str, Obj] = {}
    yield from inside(".volumes", volumes(spec.get("volumes") or [], valid, owner))
    if owner is None or not _is_static(owner):
        yield from inside(".resourceClaims", _claims(spec.get("resourceClaims") or []))
    pod = pod_of(spec, valid)
    yield from containers(pod)
    yield from init_containers(pod)
    yield from ephemeral_containers(pod)
    yield from inside(".resources", pod_resources(spec, pod.claims))
    yield from host_network(spec, of_pod=owner is not None)
    yield from _REST(spec)


_WITHOUT_ACCOUNT = table_of((
    "volumes[].projected.sources[].serviceAccountToken",
    lambda _: [forbidden("", "must not be specified when serviceAccountName is not set")],
))  # fmt: skip


def _tokens(spec: Obj) -> Iterable[FieldError]:
    """A token is of the pod's account: without one there is none. Templates are not checked."""
    return () if spec.get("serviceAccountName") else _WITHOUT_ACCOUNT(spec)


def _is_static(pod: Obj) -> bool:
    return _MIRROR in ((pod.get("metadata") or {}).get("annotations") or {})


def _static(pod: Obj) -> Iterator[FieldError]:
    """A static pod claims no devices; upstream's path is that of no member."""
    claims = (pod.get("spec") or {}).get("resourceClaims") or []
    if _is_static(pod):
        yield from (forbidden("[]", "static pods do not support resource claims") for _ in claims)


def _annotations(part: Obj, field: str) -> Iterator[FieldError]:
    """Check the annotations that mean something in a pod or template."""
    found = (part.get("metadata") or {}).get("annotations") or {}
    if _MIRROR in found and not (part.get("spec") or {}).get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{field}[{_MIRROR}]", found[_MIRROR], why)
    cost = found.get(_DELETION_COST)
    if cost is not None and not (_INTEGER.fullmatch(cost) and abs(int(cost)) < 1 << 31):
        yield invalid(f"{field}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    yield from profile_errors(found, part.get("spec") or {}, field)


def _other_profiles(part: Obj) -> Iterator[FieldError]:
    annotations = (part.get("metadata") or {}).get("annotations") or {}
    return inside(".spec", other_profiles(annotations, part.get("spec") or {}))


def template_metadata_errors(template: Obj) -> Iterator[FieldError]:
    """Yield the errors of a template's labels and annotations; upstream's paths skip `metadata`."""
    metadata = template.get("metadata") or {}
    yield from label_errors(metadata.get("labels") or {}, ".labels")
    yield from annotation_errors(metadata.get("annotations") or {}, ".annotations")
    yield from _annotations(template, ".annotations")


def template_errors(template: Obj) -> Iterator[FieldError]:
    """Yield the errors of a pod template (upstream: ValidatePodTemplateSpec)."""
    yield from template_metadata_errors(template)
    spec = template.get("spec") or {}
    yield from inside(".spec", _spec(spec))
    yield from _other_profiles(template)
    if spec.get("ephemeralContainers"):
        yield forbidden(".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


_NOT_YET = "cannot be set until all schedulingGates have been cleared"
NEW_POD = (
    ("spec.ephemeralContainers", lambda found: [forbidden("", "cannot be set on create")] if found else []),
    ("spec", refuse(lambda s: s.get("schedulingGates") and s.get("nodeName"), ".nodeName", _NOT_YET)),
    ("", _other_profiles),
)
KINDS: dict[str, Rows] = {
    "pods": (
        ("", lambda pod: _annotations(pod, ".metadata.annotations")),
        ("", _static),
        ("", lambda pod: inside(".spec", _spec(pod.get("spec") or {}, pod))), ("spec", _tokens),
        *((f"spec.{member}[]", trimmed) for member in RUNNING),
    ),
    "podtemplates": (("template", template_errors),),
}  # fmt: skip
