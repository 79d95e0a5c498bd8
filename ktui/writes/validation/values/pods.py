"""Rules of pod specs, in pods and in templates, in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
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
    text_of,
    user_id,
)
from ktui.writes.validation.values.containers import APP_ARMOR, SECCOMP, resource_amounts
from ktui.writes.validation.values.pod_containers import (
    RUNNING,
    containers,
    ephemeral_containers,
    host_network,
    init_containers,
)
from ktui.writes.validation.values.scheduling import AFFINITY, spread, toleration
from ktui.writes.validation.values.volumes import volumes

_MOST_SEARCHED = 2048
_MIRROR, _DELETION_COST = "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile("-?[1-9][0-9]{0,9}|0")
_LONGEST_SYSCTL = 253
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"


def _dns(spec: Obj) -> Iterator[FieldError]:
    config = spec.get("dnsConfig") or {}
    if spec.get("dnsPolicy") == "None" and not config:
        yield required(".dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None")
    elif spec.get("dnsPolicy") == "None" and not config.get("nameservers"):
        why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield required(".dnsConfig.nameservers", why)
    else:
        yield from inside(".dnsConfig", _RESOLVER.relative(config))


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


def _gates(gates: list[Obj]) -> Iterator[FieldError]:
    for where, _, name, again in numbered(gates, "name"):
        yield from inside(where, label_key(name))
        if again:
            yield duplicate(where, name)


def _sysctls(sysctls: list[Obj]) -> Iterator[FieldError]:
    for where, _, name, again in numbered(sysctls, "name"):
        if not name:
            yield required(f"{where}.name")
        elif len(name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, name):
            why = f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
            yield invalid(f"{where}.name", name, why)
        elif again:
            yield duplicate(f"{where}.name", name)


def _shared(spec: Obj) -> Iterator[FieldError]:
    """A shared process namespace; upstream has these members in the security context."""
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(".securityContext.shareProcessNamespace", True, why)


def _own_users(spec: Obj) -> Iterator[FieldError]:
    """A pod with users of its own has no namespace of the host."""
    for name, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(name) and spec.get("hostUsers") is False:
            yield forbidden(f".{shown}", "when `hostUsers` is false")


def _system(spec: Obj) -> Iterator[FieldError]:
    name = (spec.get("os") or {}).get("name")
    if spec.get("os") is None:
        return
    if not name:
        yield required(".os.name")
    elif name not in ("linux", "windows"):
        yield not_supported(".os", str(name), ("linux", "windows"))
    elif name == "linux":
        for where, part in _contexts(spec):
            if part.get("windowsOptions") is not None:
                yield forbidden(f"{where}.windowsOptions", "windows options cannot be set for a linux pod")
    else:
        yield from _not_of(spec, "", ("hostUsers", "shareProcessNamespace"))
        for name in ("hostPID", "hostIPC"):
            if spec.get(name):
                yield forbidden(f".{name}", "cannot be set for a windows pod")
        for where, part in _contexts(spec):
            yield from _not_of(part, where, _NOT_OF_WINDOWS)


def _not_of(part: Obj, where: str, names: Sequence[str]) -> Iterator[FieldError]:
    for name in names:
        if part.get(name) is not None:
            yield forbidden(f"{where}.{name}", "cannot be set for a windows pod")


def _contexts(spec: Obj) -> Iterator[tuple[str, Obj]]:
    """Yield the security contexts of a pod and of its containers, with their paths."""
    yield ".securityContext", spec.get("securityContext") or {}
    for member in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(member) or []):
            yield f".{member}[{index}].securityContext", container.get("securityContext") or {}


_NOT_OF_WINDOWS = (
    "appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
    "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
    "runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy",
)  # fmt: skip
_REST = table_of(
    ("restartPolicy", one_of("Always", "OnFailure", "Never")),
    ("dnsPolicy", one_of("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
    ("nodeSelector", labels), ("securityContext.fsGroup", user_id), ("securityContext.runAsUser", user_id),
    ("securityContext.runAsGroup", user_id), ("securityContext.supplementalGroups[]", user_id),
    ("", _shared), ("securityContext.sysctls", _sysctls),
    ("securityContext.fsGroupChangePolicy", listed("Always", "OnRootMismatch")),
    *below("securityContext", (*SECCOMP, *APP_ARMOR)),
    ("securityContext.supplementalGroupsPolicy", listed("Merge", "Strict")),
    ("securityContext.seLinuxChangePolicy", listed("Recursive")),
    *below("affinity", AFFINITY), ("", _dns), ("readinessGates[]", text_of("conditionType", label_key)),
    ("schedulingGates", _gates), ("topologySpreadConstraints", spread), ("", _own_users),
    ("serviceAccountName", subdomain), ("nodeName", subdomain),
    ("activeDeadlineSeconds", between(1, 2**31 - 1)), ("hostname", dns_label), ("subdomain", dns_label),
    ("tolerations[]", toleration), ("hostAliases[]", text_of("ip", address)),
    ("hostAliases[].hostnames[]", any_subdomain),
    ("priorityClassName", subdomain), ("runtimeClassName", subdomain),
    ("preemptionPolicy", one_of("PreemptLowerPriority", "Never")),
    ("overhead", lambda amounts: resource_amounts({"limits": amounts})), ("", _system),
)  # fmt: skip


def _spec(spec: Obj) -> Iterator[FieldError]:
    valid: dict[str, Obj] = {}
    yield from inside(".volumes", volumes(spec.get("volumes") or [], valid))
    yield from inside(".resourceClaims", _claims(spec.get("resourceClaims") or []))
    yield from containers(spec, valid)
    yield from init_containers(spec, valid)
    yield from ephemeral_containers(spec, valid)
    yield from host_network(spec)
    yield from _REST.relative(spec)


_WITHOUT_ACCOUNT = table_of((
    "volumes[].projected.sources[].serviceAccountToken",
    lambda _: [forbidden("", "must not be specified when serviceAccountName is not set")],
))  # fmt: skip


def _tokens(spec: Obj) -> Iterable[FieldError]:
    """A token is of the pod's account: without one there is none. Templates are not checked."""
    return () if spec.get("serviceAccountName") else _WITHOUT_ACCOUNT.relative(spec)


def _annotations(part: Obj, field: str) -> Iterator[FieldError]:
    """Check the annotations that mean something in a pod or template."""
    found = (part.get("metadata") or {}).get("annotations") or {}
    if _MIRROR in found and not (part.get("spec") or {}).get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{field}[{_MIRROR}]", found[_MIRROR], why)
    cost = found.get(_DELETION_COST)
    if cost is not None and not (_INTEGER.fullmatch(cost) and abs(int(cost)) < 1 << 31):
        yield invalid(f"{field}[{_DELETION_COST}]", cost, "must be a 32bit integer")


def template_errors(template: Obj) -> Iterator[FieldError]:
    """Yield the errors of a pod template; upstream's paths of its labels and annotations skip `metadata`."""
    metadata = template.get("metadata") or {}
    yield from label_errors(metadata.get("labels") or {}, ".labels")
    yield from annotation_errors(metadata.get("annotations") or {}, ".annotations")
    yield from _annotations(template, ".annotations")
    spec = template.get("spec") or {}
    yield from inside(".spec", _spec(spec))
    if spec.get("ephemeralContainers"):
        yield forbidden(".spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


_NOT_YET = "cannot be set until all schedulingGates have been cleared"
NEW_POD = (
    ("spec.ephemeralContainers", lambda _: [forbidden("", "cannot be set on create")]),
    ("spec", refuse(lambda s: s.get("schedulingGates") and s.get("nodeName"), ".nodeName", _NOT_YET)),
)
# The image of a template may have spaces around it.
_image = demand(lambda image: image == image.strip(), "must not have leading or trailing whitespace")
KINDS: dict[str, Rows] = {
    "pods": (
        ("", lambda pod: _annotations(pod, ".metadata.annotations")), ("spec", _spec), ("spec", _tokens),
        *((f"spec.{member}[].image", _image) for member in RUNNING),
    ),
    "podtemplates": (("template", template_errors),),
}  # fmt: skip
